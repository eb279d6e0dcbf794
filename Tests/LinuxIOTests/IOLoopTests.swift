import Domain
import Gateway
import Glibc
import LinuxIO
import MeterTestKit
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10)))
struct IOLoopTests {
    /// An actor that lives on a loop, as sessions do.
    private actor Resident {
        let loop: IOLoop
        var count = 0

        init(_ loop: IOLoop) { self.loop = loop }

        nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

        func add() -> Int {
            loop.checkIsolated()
            count += 1
            return count
        }
    }

    @Test func timers_runInOrderOfTime_notEarly() async throws {
        try await withLoop { loop in
            let (ran, report) = AsyncStream.makeStream(of: (Int, Duration).self)
            // Added on the loop, so that none runs before all are there.
            try await loop.perform {
                let start = loop.now
                for milliseconds in [30, 10, 20] {
                    _ = loop.schedule(at: start + .milliseconds(milliseconds)) {
                        report.yield((milliseconds, loop.now - start))
                    }
                }
            }

            var iterator = ran.makeAsyncIterator()
            for expected in [10, 20, 30] {
                let (milliseconds, after) = try #require(await iterator.next())
                #expect(milliseconds == expected)
                #expect(after >= .milliseconds(expected))
            }
        }
    }

    @Test func aThousandTimers_allRun_inOrder() async throws {
        try await withLoop { loop in
            let (ran, report) = AsyncStream.makeStream(of: Int.self)
            // Added on the loop, so that none runs before all are there; from the far end, so that each is the new first.
            try await loop.perform {
                let start = loop.now + .milliseconds(5)
                for number in (0..<1000).reversed() {
                    _ = loop.schedule(at: start + .microseconds(20 * number)) { report.yield(number) }
                }
            }

            var order: [Int] = []
            for await number in ran {
                order.append(number)
                if order.count == 1000 { break }
            }
            #expect(order == Array(0..<1000))
        }
    }

    @Test func cancelledTimer_doesNotRun_andTheNextDoes() async throws {
        try await withLoop { loop in
            let (ran, report) = AsyncStream.makeStream(of: Int.self)
            try await loop.perform {
                let start = loop.now
                let cancelled = loop.schedule(at: start + .milliseconds(5)) { report.yield(1) }
                _ = loop.schedule(at: start + .milliseconds(10)) { report.yield(2) }
                loop.cancel(cancelled)
            }

            var iterator = ran.makeAsyncIterator()
            #expect(await iterator.next() == 2)
        }
    }

    @Test func timerThatIsAlwaysDue_leavesTheOthersTheirTurn() async throws {
        try await withLoop { loop in
            let isDone = Mutex(false)
            @Sendable func again() {
                if isDone.withLock({ $0 }) { return }
                _ = loop.schedule(at: .origin) { again() }
            }
            again()

            let answer = try await loop.perform { 7 }
            #expect(answer == 7)
            isDone.withLock { $0 = true }
        }
    }

    @Test func actor_runsOnTheLoop_andIsIsolatedInTimers() async throws {
        try await withLoop { loop in
            let resident = Resident(loop)
            #expect(await resident.add() == 1)

            let counted = await withCheckedContinuation { continuation in
                _ = loop.schedule(at: loop.now) {
                    // Traps unless the loop's thread counts as the actor's.
                    continuation.resume(returning: resident.assumeIsolated { $0.add() })
                }
            }
            #expect(counted == 2)
        }
    }

    @Test func actor_keepsCount_whenCalledFromManyTasks() async throws {
        try await withLoop { loop in
            let resident = Resident(loop)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<100 {
                    group.addTask { for _ in 0..<20 { _ = await resident.add() } }
                }
            }
            #expect(await resident.count == 2000)
        }
    }

    @Test func execute_doesNotRunBeforeItReturns_evenOnTheLoop() async throws {
        try await withLoop { loop in
            let order = Mutex<[String]>([])
            try await loop.perform {
                loop.execute { order.withLock { $0.append("later") } }
                order.withLock { $0.append("first") }
            }
            try await loop.perform {}
            #expect(order.withLock { $0 } == ["first", "later"])
        }
    }

    @Test func descriptor_isReportedWhileReady_untilUnregistered() async throws {
        try await withLoop { loop in
            let (reading, writing) = try pipe()
            let (ready, report) = AsyncStream.makeStream(of: Readiness.self)
            try await loop.perform {
                try loop.register(reading, .readable) { report.yield($0) }
            }
            var iterator = ready.makeAsyncIterator()
            try writing.write(all: [1])

            // Level-triggered: nothing is read, so it comes again.
            #expect(await iterator.next() == .readable)
            #expect(await iterator.next() == .readable)
            try await loop.perform { loop.unregister(reading) }
            report.finish()
            while await iterator.next() != nil {}
            // The number may be used again at once, and the new owner hears only of itself.
            reading.close()
        }
    }

    @Test func handlerThatUnregistersAnother_silencesItAtOnce() async throws {
        try await withLoop { loop in
            let first = try pipe()
            let second = try pipe()
            let calls = Mutex(0)
            try await loop.perform {
                for (mine, other) in [(first.reading, second.reading), (second.reading, first.reading)] {
                    try loop.register(mine, .readable) { _ in
                        calls.withLock { $0 += 1 }
                        loop.unregister(other)
                        loop.unregister(mine)
                    }
                }
                // Both become ready within this turn.
                for pipe in [first, second] { try pipe.writing.write(all: [1]) }
            }
            try await loop.perform {}
            try await loop.perform {}
            #expect(calls.withLock { $0 } == 1)
        }
    }

    @Test func registeringTwice_isRefused() async throws {
        try await withLoop { loop in
            let (reading, _) = try pipe()
            await #expect(throws: Errno(EEXIST)) {
                try await loop.perform {
                    try loop.register(reading, .readable) { _ in }
                    try loop.register(reading, .readable) { _ in }
                }
            }
        }
    }

    @Test func shutdown_runsWhatHadCome_andTwiceIsHarmless() throws {
        let loop = try IOLoop()
        let ran = Mutex(0)
        // Work that makes more work, before the loop has even started.
        loop.execute {
            ran.withLock { $0 += 1 }
            loop.execute { ran.withLock { $0 += 1 } }
        }
        loop.start()
        loop.shutdown()
        loop.shutdown()
        #expect(ran.withLock { $0 } == 2)
    }

    @Test func clocks_agreeWithTheSystem() async throws {
        try await withLoop { loop in
            let before = loop.now
            let after = loop.now
            #expect(before <= after)
            // 2025-01-01; a machine that does not know the date at all is not one for tests.
            #expect(loop.wallNow > WallTime(millisecondsSince1970: 1_735_689_600_000))
        }
    }

    private func pipe() throws -> (reading: FileDescriptor, writing: FileDescriptor) {
        var numbers: [Int32] = [0, 0]
        try #require(Glibc.pipe(&numbers) == 0)
        return (FileDescriptor(owning: numbers[0]), FileDescriptor(owning: numbers[1]))
    }
}
