package import Domain
import GatewayAPI
package import Logging
import MeterCodec
import Synchronization

/// Performs the decisions of `LoadDrive` on the loads of battery tests (Docs/Recordings.md#with-a-load), and checks
/// each load once a second. Stopping meterd switches no load off.
package final class LoadService: Sendable {
    private struct Drive {
        var test: RecordingID
        var machine: LoadDrive
    }

    private static let lookInterval = Duration.seconds(1)
    /// Time after a test's end in which a restarted meterd still tries to switch the load off. Later, somebody else may
    /// use the load.
    private static let takenUpFor = Duration.seconds(24 * 3600)

    private let drives = Mutex<[MeterID: Drive]>([:])
    private let directory: MeterDirectory
    private let recordings: RecordingService
    private let loop: any SessionLoop
    private let logger: Logger
    private let wake: AsyncStream<Void>
    private let wakeUp: AsyncStream<Void>.Continuation
    private let timer: FlushTimer

    package init(directory: MeterDirectory, recordings: RecordingService, loop: any SessionLoop, logger: Logger) {
        self.directory = directory
        self.recordings = recordings
        self.loop = loop
        self.logger = logger
        (wake, wakeUp) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        timer = FlushTimer(loop: loop, wakeUp: wakeUp)
    }

    /// Call after `RecordingService.restore`.
    package func restore() async throws {
        let now = loop.wallNow.millisecondsSince1970
        // Oldest first: of two tests of one meter, the later one replaces the earlier.
        for entry in try await recordings.recordings().reversed() where entry.isMine {
            guard let load = entry.recording.test?.load, load.phase != .over else { continue }
            let isRunning = entry.recording.end == nil
            let (age, overflow) = now.subtractingReportingOverflow(entry.recording.until.millisecondsSince1970)
            guard isRunning || (!overflow && age < Self.takenUpFor.milliseconds) else { continue }
            let machine = LoadDrive(load.plan, resuming: load.phase, problem: load.problem)
            add(Drive(test: entry.recording.id, machine: machine), of: entry.meter)
            if isRunning, load.phase == .preparing { recordings.endTest(entry.recording.id, of: entry.meter, .load) }
            logger.notice(
                "battery test resumed",
                metadata: [
                    "meter.id": "\(entry.meter)", "load": "\(load.plan.words)", "phase": "\(load.phase.rawValue)",
                ])
        }
    }

    // MARK: What people ask for

    /// Begins a battery test. With a load, returns once the load draws current.
    ///
    /// - Throws: `refused` if the meter is no load, answers no query, is not off yet or rejects a command;
    ///   `notConnected`.
    package func start(
        _ meter: MeterID, name: String?, test: BatteryTest
    ) async throws(GatewayError) -> Recording {
        guard let plan = test.load?.plan else { return try await recordings.start(meter, name: name, test: test) }
        try await check(meter)
        let recording = try await recordings.start(meter, name: name, test: test)
        add(Drive(test: recording.id, machine: LoadDrive(plan)), of: meter)
        var begun = false
        await carryOut(meter) {
            $0.begin()
        } whenChanged: { machine in
            if machine.phase == .drawing { begun = true }
        }
        guard begun else {
            let problem = try await recordings.recording(recording.id.recordName).recording.test?.load?.problem
            throw GatewayError(
                .refused, "the load was not switched on: \(problem ?? "the test was stopped meanwhile")",
                next: "meterctl status \(meter) shows its state")
        }
        return recording
    }

    private func check(_ meter: MeterID) async throws(GatewayError) {
        guard let session = await directory.session(of: meter),
            let profile = await session.profile, profile.commands.contains(where: { $0.kind == .loadOn })
        else {
            throw GatewayError(
                .refused, "\(meter) is not an electronic load",
                next: "leave load out, and discharge the battery another way")
        }
        guard await session.isLinked else {
            throw GatewayError(.notConnected, "\(meter) is not connected", next: "meterctl connect \(meter)")
        }
        guard await session.loadView() != nil else {
            throw GatewayError(
                .refused, "\(meter) does not report whether it is on, so meterd does not switch it on",
                next: "leave load out, and set and switch the load by hand")
        }
        if drives.withLock({ $0[meter] != nil }) {
            throw GatewayError(
                .refused, "the load of the last test of \(meter) is not off yet",
                next: "meterctl battery-test list shows why")
        }
    }

    /// Switches the load off after a user stopped the test, if the load is connected.
    package func testWasStopped(_ meter: MeterID) async {
        let isLinked = await view(of: meter) != nil
        await carryOut(meter) { $0.testEnded(isLinked: isLinked) }
    }

    // MARK: Running

    package func run() async {
        await withDiscardingTaskGroup { group in
            for await _ in wake {
                let tests = drives.withLock { drives in drives.mapValues { $0.test } }
                for (meter, test) in tests {
                    let view = await view(of: meter)
                    let goesOn = recordings.isRunning(test, of: meter)
                    let before = drives.withLock { $0[meter]?.machine }
                    let act = change(meter) { machine in
                        let isOver = !goesOn && machine.phase != .ending && machine.phase != .over
                        return isOver ? machine.testEnded(isLinked: view != nil) : machine.looked(at: view)
                    }
                    let after = drives.withLock { $0[meter]?.machine }
                    guard act != .none || before?.phase != after?.phase || before?.problem != after?.problem else {
                        continue
                    }
                    group.addTask { await self.carryOut(meter) { _ in act } }
                }
                if drives.withLock({ !$0.isEmpty }) { timer.retry(after: Self.lookInterval) }
            }
        }
        timer.stop()
    }

    /// Makes `run` return. Loads continue to draw current.
    package func finish() {
        for (meter, drive) in drives.withLock({ $0 }) where drive.machine.mayDraw {
            logger.warning(
                "electronic load stays on until its own cut-off",
                metadata: ["meter.id": "\(meter)", "load": "\(drive.machine.plan.words)"])
        }
        wakeUp.finish()
    }

    private func add(_ drive: Drive, of meter: MeterID) {
        drives.withLock { $0[meter] = drive }
        timer.retry(after: Self.lookInterval)
    }

    private func view(of meter: MeterID) async -> LoadView? { await directory.session(of: meter)?.loadView() }

    private func change(_ meter: MeterID, _ event: (inout LoadDrive) -> LoadDrive.Act) -> LoadDrive.Act {
        drives.withLock { drives in
            guard var drive = drives[meter] else { return .none }
            let act = event(&drive.machine)
            drives[meter] = drive
            return act
        }
    }

    /// Performs the action that an event causes, and all actions that follow.
    private func carryOut(
        _ meter: MeterID, _ event: (inout LoadDrive) -> LoadDrive.Act, whenChanged: (LoadDrive) -> Void = { _ in }
    ) async {
        guard let test = drives.withLock({ $0[meter]?.test }) else { return }
        var act = change(meter, event)
        while true {
            await keep(meter, whenChanged)
            switch act {
            case .none: return
            case .order(let order):
                do throws(GatewayError) {
                    try await perform(order, on: meter)
                    act = change(meter) { $0.done(order) }
                } catch {
                    logger.warning(
                        "command to electronic load failed",
                        metadata: ["meter.id": "\(meter)", "order": "\(order)", "cause": "\(error.message)"])
                    act = change(meter) { $0.failed(order, because: error.message) }
                }
            case .endTest(let end):
                recordings.endTest(test, of: meter, end)
                let isLinked = await view(of: meter) != nil
                act = change(meter) { $0.testEnded(isLinked: isLinked) }
            }
        }
    }

    private func perform(_ order: MeterCommand, on meter: MeterID) async throws(GatewayError) {
        guard let session = await directory.session(of: meter) else {
            throw GatewayError(.notConnected, "\(meter) is gone", next: "meterctl scan looks for it")
        }
        try await directory.log.logging("\(order), for its battery test", of: meter, by: .person) {
            () throws(GatewayError) in
            try await session.perform(order)
        }
    }

    /// Stores the load's phase in the recording. Ends the control of the load once the test is over.
    private func keep(_ meter: MeterID, _ whenChanged: (LoadDrive) -> Void) async {
        guard let drive = drives.withLock({ $0[meter] }) else { return }
        whenChanged(drive.machine)
        await recordings.drove(drive.test, of: meter, drive.machine.phase, problem: drive.machine.problem)
        drives.withLock { drives in
            if drives[meter]?.machine.phase == .over, drives[meter]?.test == drive.test { drives[meter] = nil }
        }
    }
}
