import Domain
import Testing

/// When a backup is due, over days in which clocks jump and machines are off.
struct BackupScheduleTests {
    private static let day = Duration.seconds(86_400)
    private static let noon = WallTime(millisecondsSince1970: 1_795_000_000_000)

    /// - Returns: how long after the start the next backup is due, to the minute.
    private func wait(_ schedule: BackupSchedule, after last: WallTime?, calendar: WallTime = noon) -> Int? {
        (0...40 * 24 * 60).first { minute in
            let passed = Duration.seconds(minute * 60)
            return schedule.isDue(after: last, at: .origin + passed, calendar + passed)
        }
    }

    @Test(
        arguments: [
            (nil, 2, "the first one"), (Self.noon + .seconds(-3600), 23 * 60, "the rest of the day"),
            (Self.noon + .seconds(-7 * 86_400), 2, "the machine was off for a week"),
            (Self.noon + .seconds(-86_340), 2, "due before the start is over"),
            (Self.noon + .seconds(86_400), 60, "the calendar is behind: the age is unknown"),
            (WallTime(millisecondsSince1970: .max), 60, "a date that no calendar has"),
            (WallTime(millisecondsSince1970: .min), 2, "1970, and far before"),
        ] as [(WallTime?, Int, String)])
    func afterAStart_theAgeOfTheLastOneDecides(last: WallTime?, minutes: Int, why: String) {
        let schedule = BackupSchedule(every: Self.day, startingAt: .origin)

        #expect(wait(schedule, after: last) == minutes, "\(why)")
    }

    /// Neither a calendar set to 1970 nor one in 2099 makes the next one come earlier or later than the boot-time clock.
    @Test(arguments: [-1_795_000_000, -7200, 0, 7200, 2_300_000_000])
    func afterABackupOfThisRun_aCalendarThatJumpsChangesNothing(jump: Int) {
        var schedule = BackupSchedule(every: Self.day, startingAt: .origin)
        let written = Self.noon + .seconds(120)
        schedule.succeeded(with: written, at: .origin + .seconds(120))

        #expect(wait(schedule, after: written, calendar: Self.noon + .seconds(jump)) == 24 * 60 + 2)
        let age = schedule.age(of: written, at: .origin + .seconds(720), Self.noon + .seconds(jump))
        #expect(age == .seconds(600))
    }

    @Test func age_isUnknown_withoutABackup_andWhereItsDateIsAheadOfTheCalendar() {
        let schedule = BackupSchedule(every: Self.day, startingAt: .origin)

        #expect(schedule.age(of: nil, at: .origin, Self.noon) == nil)
        #expect(schedule.age(of: Self.noon + .seconds(1), at: .origin, Self.noon) == nil)
        #expect(schedule.age(of: Self.noon + .seconds(-60), at: .origin, Self.noon) == .seconds(60))
    }

    @Test func failures_areRepeatedMoreAndMoreSeldom_andAtLeastAsOftenAsBackups() {
        var schedule = BackupSchedule(every: Self.day, startingAt: .origin)
        var pauses: [Int?] = []
        for _ in 0..<9 {
            schedule.failed(at: .origin)
            pauses.append(wait(schedule, after: nil))
        }
        #expect(pauses == [10, 20, 40, 80, 160, 320, 640, 1280, 1440])
        schedule.succeeded(with: Self.noon, at: .origin)
        #expect(wait(schedule, after: Self.noon) == 1440)
    }
}
