import Foundation
import GatewayAPI
import ProgramKit
import Testing

@testable import meterctl

/// What people see of leases, syncs, histories and rebuilds.
struct SharedOutputTests {
    // MARK: - Leases

    @Test(arguments: [
        (Int64(0), "0 s"), (999, "0 s"), (1000, "1 s"), (57_400, "57 s"), (103_000, "103 s"), (600_000, "10 min"),
        (-5, "0 s"), (.max, "106751991167 d"),
    ])
    func countdown_isWords_roundedDown(_ milliseconds: Int64, _ text: String) {
        #expect(LeaseText.countdown(milliseconds: milliseconds) == text)
    }

    @Test(
        arguments: [
            (.none, nil, nil, "none"), (.requesting, "pi-attic", nil, "requesting"),
            (.held, "pi", 103_000, "mine 103 s"),
            (.jeopardy, "pi", 35_000, "jeopardy 35 s"), (.lost, "pi", 0, "lost"), (.unleased, nil, nil, "unleased"),
            (.unleased, "pi-attic", 9000, "unleased, pi-attic has it"),
            (.elsewhere, "pi-kitchen", 57_900, "pi-kitchen 57 s"), (.elsewhere, nil, nil, "another host"),
            (.waiting, "pi-kitchen", 57_900, "waiting for pi-kitchen 57 s"),
            (.expired, "pi-kitchen", 0, "pi-kitchen expired"),
        ] as [(LeaseStatus.State, String?, Int64?, String)])
    func lease_isAWordOrTwo(_ state: LeaseStatus.State, _ holder: String?, _ remaining: Int64?, _ text: String) {
        var lease = LeaseStatus(state)
        (lease.holder, lease.remaining_ms) = (holder, remaining)

        #expect(LeaseText.cell(lease).text == text)
    }

    @Test func linkWithoutALease_saysThatTheHostMayOnlyLook() {
        var lease = LeaseStatus(.unleased)
        lease.read_only = true
        let free = LeaseText.cell(lease).text
        lease.holder = "pi-attic"

        #expect(free == "unleased, read-only")
        #expect(LeaseText.cell(lease).text == "unleased, pi-attic has it")
    }

    @Test func changesOfAHostThatMayOnlyLook_areSaidToStay() {
        var status = SyncStatusBody(zone: "home", mode: "idle", stream: "open")
        func told() -> String? { SyncText.table(status, .berlin).lines.first { $0.hasPrefix("to tell") } }
        (status.pending, status.role) = (12, "full")
        let full = told()
        status.role = "readOnly"
        let waiting = told()
        status.pending = 0

        #expect(full?.hasSuffix("12 changes") == true)
        #expect(waiting?.contains("12 changes, which stay here: this host may only look") == true)
        #expect(told()?.hasSuffix("0 changes") == true)
    }

    @Test func lease_inDetail_tellsEverything() {
        var lease = LeaseStatus(.held)
        (lease.remaining_ms, lease.policy, lease.token, lease.waiting) = (61_000, "strict", 42, ["pi-attic"])
        lease.since = "2026-11-21T13:40:05.250Z"

        #expect(
            LeaseText.detail(lease, .berlin)
                == "mine 61 s, policy strict, token 42, since 2026-11-21 14:40:05, waiting: pi-attic")
        #expect(LeaseText.detail(nil, .berlin) == nil)
    }

    private var lease: WhoEntry {
        var lease = WhoEntry(meter: "02:00:00:00:25:0C", state: "held", mine: false, waiting: ["pi-attic", "pi-bench"])
        (lease.holder, lease.holder_id, lease.remaining_ms, lease.token) = ("pi-kitchen", "6f1c", 57_000, 42)
        (lease.transport, lease.policy, lease.since) = ("usb", "keep", "2026-11-21T13:40:05.250Z")
        return lease
    }

    @Test func who_isATable() {
        var own = WhoEntry(meter: "02:00:00:00:25:0D", state: "lost", mine: true)
        (own.name, own.model, own.holder) = ("Bench", "UM25C", "pi")

        #expect(
            Who.table([lease, own]).lines == [
                "METER              NAME   MODEL  HOLDER          TRANSPORT  STATE  REMAINING  TOKEN  WAITING",
                "02:00:00:00:25:0C  –      –      pi-kitchen      usb        held   57 s       42     pi-attic, pi-bench",
                "02:00:00:00:25:0D  Bench  UM25C  pi (this host)  –          lost   –          –      –",
            ])
    }

    @Test func who_hasNulls_andNoMissingKeys() throws {
        #expect(
            try JSONOutput.line(WhoBody(joined: true, leases: [WhoEntry(meter: "m", state: "free", mine: false)]))
                == #"{"joined":true,"leases":[{"holder":null,"holder_id":null,"meter":"m","mine":false,"model":null,"#
                + #""name":null,"policy":null,"remaining_ms":null,"since":null,"state":"free","token":null,"#
                + #""transport":null,"waiting":[]}]}"#)
    }

    // MARK: - Sync

    private var result: SyncResultBody {
        var result = SyncResultBody(
            run: 7, trigger: "asked", age_ms: 130, duration_ms: 120, end: "complete", was_cancelled: false, skipped: 3,
            types: [.init(type: "DeviceSettings", pushed: 12, fetched: 4, unchanged: 2, parked: 1)])
        (result.error, result.next) = (nil, nil)
        return result
    }

    @Test func result_isATable_andOneLine() {
        #expect(
            SyncText.table(result).lines == [
                "TYPE            TOLD  FETCHED  UNCHANGED  PARKED", "DeviceSettings  12    4        2          1",
            ])
        #expect(SyncText.summary(result) == "complete in 120 ms, 3 skipped")
    }

    @Test func status_tellsWhatWaits_andWhatIsWrong() {
        var status = SyncStatusBody(zone: "home", mode: "waiting", stream: "waiting")
        (status.pending, status.parked, status.unread) = (12, 1, ["Host", "Recording"])
        (status.error, status.failures, status.retry_in_ms) = ("https://pi:1 cannot be reached: it is off", 3, 4000)
        status.network = .init(satisfied: true, interface: "wlan0", kind: "wifi")
        status.clock_behind_ms = 61_000

        #expect(
            SyncText.table(status, .berlin).lines == [
                "FIELD         VALUE", "zone          home", "mode          waiting",
                "to tell       12 changes, 1 parked: meterctl sync parked", "to fetch      Host, Recording",
                "last success  –",
                "error         https://pi:1 cannot be reached: it is off (3 times)", "next attempt  in 4 s",
                "next poll     –", "event stream  waiting", "last push     –", "network       wifi wlan0",
                "clock         61 s behind the cloud's", "store         –",
                "counted       0 runs, 0 complete, 0 failed, 0 cancelled, 0 pages, 0 batches",
            ])
    }

    @Test func status_tellsWhatTheCloudHasNoRoomFor() {
        var status = SyncStatusBody(zone: "home", mode: "idle", stream: "open")
        (status.pending, status.held_back, status.full_retry_in_ms) = (12, 3, 240_000)
        status.full = "the zone home has 5 of 5 records"

        #expect(
            SyncText.table(status, .berlin).lines[4]
                == "no room for   3 records, which wait here, some are tried again in 4 min: the zone home has 5 of 5 records"
        )
    }

    @Test func halt_saysWhatToDo() {
        var status = SyncStatusBody(zone: "home", mode: "halted", stream: "closed")
        status.halt = "join again"

        #expect(SyncText.mode(status) == "halted: join again")
    }

    @Test(arguments: [
        (Int64(0), "as the cloud's"), (1500, "1 s ahead of the cloud's"), (-200, "200 ms behind the cloud's"),
        (.min, "106751991167 d behind the cloud's"),
    ])
    func clock_isComparedInWords(_ milliseconds: Int64, _ text: String) {
        #expect(SyncText.clock(aheadBy: milliseconds) == text)
    }

    @Test func syncBodies_surviveTheirJSON() throws {
        var status = SyncStatusBody(zone: "home", mode: "idle", stream: "open")
        status.result = result
        let text = try JSONOutput.line(status)

        #expect(try JSONDecoder().decode(SyncStatusBody.self, from: Data(text.utf8)) == status)
        #expect(text.contains(#""retry_in_ms":null"#))
    }

    // MARK: - History and rebuild

    @Test func history_tellsWhoAndWhen() {
        let written = HistoryLine.Author(at: "2026-11-20T08:00:00.000Z", host: nil, host_id: "6f1c")
        let by = HistoryLine.Author(at: "2026-11-21T08:00:00.000Z", host: "pi-attic", host_id: "7a2d")
        let nobody = HistoryLine.Author(at: "2026-11-22T08:00:00.000Z", host: nil, host_id: nil)

        #expect(
            History.table(
                [
                    HistoryLine(
                        key: "name", old: "Bench", new: "Desk", deleted: false, written: written, overwritten: by),
                    HistoryLine(key: "notes", old: nil, new: nil, deleted: true, written: by, overwritten: nobody),
                ], .berlin
            ).lines == [
                "SETTING  OLD        NEW            OVERWRITTEN          BY          WRITTEN              BY",
                "name     Bench      Desk           2026-11-21 09:00:00  pi-attic    2026-11-20 09:00:00  6f1c",
                "notes    (default)  (all deleted)  09:00:00             (clean-up)  2026-11-21 09:00:00  pi-attic",
            ])
    }

    @Test func history_tellsWhoBroughtIt() {
        var by = HistoryLine.Author(at: "2026-11-21T08:00:00.000Z", host: "bench", host_id: "7a2d")
        (by.brought_by, by.brought_by_id) = ("attic", "6f1c")
        let written = HistoryLine.Author(
            at: "2026-11-20T08:00:00.000Z", host: nil, host_id: "7a2d", brought_by_id: "6f1c")
        let line = HistoryLine(key: "name", old: "A", new: "B", deleted: false, written: written, overwritten: by)

        let text = History.table([line], .berlin).lines.last

        #expect(
            text?.hasSuffix(
                "  bench, brought by attic  2026-11-20 09:00:00  7a2d, brought by 6f1c") == true)
    }

    @Test func dryRun_tellsWhatWouldBeDone() {
        let report = RebuildReportBody(
            scanned: 1200, folded: 3,
            examples: [
                .init(
                    type: "DeviceSettings", from: "aa-bb", into: "AA:BB", moved: ["name", "notes"],
                    kept: ["stale-after"]),
                .init(type: "DeviceSettings", from: "aabb", into: "AA:BB", moved: [], kept: []),
            ])

        #expect(
            Rebuild.lines(for: report) == [
                "3 of 1200 records would be folded into another one",
                "  DeviceSettings aa-bb → AA:BB: takes over name, notes; younger there: stale-after",
                "  DeviceSettings aabb → AA:BB: takes over nothing", "  and 1 more",
            ])
    }
}
