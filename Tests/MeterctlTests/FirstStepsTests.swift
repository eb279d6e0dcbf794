import Foundation
import GatewayAPI
import MeterTestKit
import Testing

@testable import meterctl

/// What meterctl says by itself.
struct FirstStepsTests {
    private let installed = FirstSteps.Daemon(hasService: true, program: "meterd")
    private let built = FirstSteps.Daemon(hasService: false, program: ".build/debug/meterd")

    private func status(_ states: [String]) -> GatewayStatus {
        let meters = states.enumerated().map { number, state in
            MeterStatus(
                id: "m\(number)", state: state, since: "2026-11-22T12:00:00.000Z", local_only: false, wanted: true,
                counters: .init())
        }
        return GatewayStatus(
            meters: meters, store: StoreStatus(path: "x", unsaved: 0, saved: 0, dropped: 0, error: nil))
    }

    @Test func withoutADaemon_itSaysWhatToType() {
        #expect(
            FirstSteps.text(nil, daemon: installed, path: "meterctl") == """
                No meterd runs here, so nothing reads your meters yet.

                  sudo systemctl enable --now meterd   starts it, now and at every boot
                  meterd --demo                        with four simulated meters, to try it without one

                Then, in another terminal:

                  meterctl scan             which meters are there
                  meterctl connect METER    reads one, now and after every boot
                  meterctl status --watch   all of them, live
                  meterctl web url          where a browser shows the same, with charts

                meterctl --help lists every command.
                """)
        let text = FirstSteps.text(nil, daemon: built, path: ".build/debug/meterctl")
        #expect(text.contains("\n  .build/debug/meterd          starts it in this terminal\n"))
        #expect(text.contains("\n  .build/debug/meterctl web url"))
        let none = FirstSteps.text(nil, daemon: .init(hasService: false, program: nil), path: "meterctl")
        #expect(none.contains("\n  meterd   is not installed here: see README.md\n"))
    }

    @Test func withADaemon_itSaysHowItIs_andWhatComesNext() {
        let none = FirstSteps.text(status([]), daemon: installed, path: "meterctl")
        #expect(
            none.hasPrefix("meterd runs, and knows no meter yet. Switch one on, or plug one in:\n\n  meterctl scan "))
        let one = FirstSteps.text(status(["data-available"]), daemon: installed, path: "meterctl")
        #expect(one.hasPrefix("meterd runs and knows 1 meter, 1 with data.\n"))
        let three = FirstSteps.text(
            status(["data-available", "offline", "connected"]), daemon: installed, path: "meterctl")
        #expect(three.hasPrefix("meterd runs and knows 3 meters, 1 with data.\n"))
        #expect(three.hasSuffix("meterctl --help lists every command."))
    }

    @Test func programs_areNamedAsTheyAreTyped() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/meterd"
        #expect(TypedProgram.beside("\(folder.path)/meterctl", "meterd") == nil)
        #expect(FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o755]))
        #expect(TypedProgram.beside("\(folder.path)/meterctl", "meterd") == path)
        #expect(TypedProgram.beside("meterctl", "sh") == "sh")
        #expect(TypedProgram.beside("meterctl", "no such program") == nil)
    }
}
