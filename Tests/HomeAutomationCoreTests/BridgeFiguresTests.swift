import Domain
import Testing

/// What the machine counts, for those who ask how it is doing.
struct BridgeFiguresTests {
    @Test func confirmedMessages_areCounted_andTheQueueIsEmptyAfter() {
        var bench = Bench.open()
        bench.observe([Sample.meter(reading: 0)], at: 1)
        let waiting = bench.machine.queueCount
        bench.acknowledgeAll(at: 1)

        // The announcement, status, availability and the reading.
        #expect(waiting == 4)
        #expect(bench.machine.queueCount == 0)
        // And the bridge's own word.
        #expect(bench.machine.publishedCount == bench.published.count)
        #expect(bench.machine.publishedCount == 5)
        #expect(bench.machine.refusedCount == 0)
    }

    @Test func refusedMessages_areCountedApart_withTheirTopics() {
        var bench = Bench.open()
        let told = bench.machine.publishedCount
        for second in stride(from: 1.0, through: 11, by: 5) {
            bench.observe([Sample.meter(reading: second)], at: second)
            for number in bench.unacknowledged {
                bench.take(bench.machine.acknowledged(number, refusal: "Not authorized", at: Sample.at(second)))
            }
            bench.unacknowledged = []
        }

        #expect(bench.machine.publishedCount == told)
        // The status and availability that are told again after 5 s, and two more readings.
        #expect(bench.machine.refusedCount == 8)
        #expect(bench.machine.refusedTopicsCount == 4)
    }

    /// What is confirmed twice, or was never sent, is nobody's message.
    @Test func unknownNumber_countsNothing() {
        var bench = Bench.open()
        let told = bench.machine.publishedCount

        bench.take(bench.machine.acknowledged(1, at: Sample.at(1)))
        bench.take(bench.machine.acknowledged(999, refusal: "no", at: Sample.at(1)))

        #expect(bench.machine.publishedCount == told)
        #expect(bench.machine.refusedCount == 0)
    }

    @Test func links_areCounted_andRefusedTopicsBeginAnew() {
        var bench = Bench.open()
        bench.observe([Sample.meter(reading: 0)], at: 1)
        bench.take(bench.machine.acknowledged(bench.unacknowledged[0], refusal: "no", at: Sample.at(1)))
        bench.lose(at: 2)
        bench.reopen(at: 4)

        #expect(bench.machine.linksOpened == 2)
        #expect(bench.machine.refusedTopicsCount == 0)
        #expect(bench.machine.refusedCount == 1)
    }

    @Test func readingsOfAnOutage_waitInTheQueue_andWhatFindsNoRoomIsDropped() {
        var settings = Sample.settings
        settings.backlog.entries = 3
        var bench = Bench.open(settings)
        bench.lose(at: 1)
        for second in stride(from: 2.0, through: 22, by: 5) {
            bench.observe([Sample.meter(reading: second)], at: second)
        }

        #expect(bench.machine.queueCount == 3)
        #expect(bench.machine.droppedCount == 2)
    }

    /// Answers that nobody takes are bounded, and those given up are told of too.
    @Test func answersWithoutRoom_areDropped() {
        var bench = Bench.open()
        // More than a window of them, and then more than may wait.
        for second in 1...4 {
            for _ in 0..<20 { bench.ask("fly", at: Double(second)) }
            bench.observe([], at: Double(second))
        }

        #expect(bench.machine.queueCount == 20 + 32)
        #expect(bench.machine.droppedCount == 80 - 52)
    }
}
