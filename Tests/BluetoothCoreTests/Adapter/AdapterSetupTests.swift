import Domain
import Testing

@testable import BluetoothCore

struct AdapterSetupTests {
    private let slots = LinkSlots(linksMax: 5)
    private let all = AdapterProbe.dual.current

    /// One that has been read.
    private func setup(
        supported: ControllerSettings = AdapterProbe.dual.supported, current: ControllerSettings
    ) -> AdapterSetup {
        var info = AdapterProbe.dual
        (info.supported, info.current) = (supported, current)
        var setup = AdapterSetup()
        _ = setup.succeeded(.readInfo, ManagementSamples.bytes(of: info))
        return setup
    }

    @Test func command_isTheFirstThatIsMissing() {
        var unread = AdapterSetup()
        #expect(unread.command(for: slots, at: .origin) == .readInfo)
        for (missing, command) in [
            ([], nil), (.powered, .setPowered(true)), (.lowEnergy, .setLowEnergy(true)),
            (.bondable, .setBondable(true)), ([.lowEnergy, .bondable], .setLowEnergy(true)),
            ([.powered, .lowEnergy, .bondable], .setPowered(true)),
        ] as [(ControllerSettings, ManagementCommand?)] {
            var setup = setup(current: all.subtracting(missing))
            #expect(setup.command(for: slots, at: .origin) == command, "\(missing)")
        }
    }

    /// Settings that the kernel tells of before the adapter was read, or while it is read again, say nothing yet.
    @Test func adapterThatIsNotRead_isNeitherBondableNorNot() {
        for settings in [all, all.subtracting(.bondable)] {
            var unread = AdapterSetup()
            _ = unread.changed(to: settings, at: .origin)
            #expect(unread.settings == settings && unread.isBondable == nil)

            var again = setup(current: settings)
            #expect(again.isBondable == settings.contains(.bondable))
            again.forgetInfo()
            #expect(again.settings == settings && again.isBondable == nil)
        }
    }

    /// Nothing is asked for that the adapter does not have.
    @Test func settingThatIsNotSupported_isNotAskedFor() {
        for missing in [ControllerSettings.lowEnergy, .bondable] {
            var setup = setup(supported: all.subtracting(missing), current: all.subtracting(missing))
            #expect(setup.command(for: slots, at: .origin) == nil, "\(missing)")
            #expect(setup.bondableTime == nil)
        }
        var withoutClassic = setup(current: [.powered, .lowEnergy])
        #expect(withoutClassic.command(for: slots, at: .origin) == nil)
        #expect(withoutClassic.isBondable == nil)
    }

    @Test func everyCommand_setsItsOwnSetting() {
        for (command, setting) in [
            (.setPowered(true), .powered), (.setLowEnergy(true), .lowEnergy), (.setBondable(true), .bondable),
        ] as [(ManagementCommand, ControllerSettings)] {
            var setup = setup(current: all.subtracting(setting))
            let isValid = setup.succeeded(command, [])
            #expect(isValid)
            #expect(setup.settings == all)
            #expect(setup.command(for: slots, at: .origin) == nil)
        }
        var setup = setup(current: all)
        _ = setup.succeeded(.setPowered(false), [])
        #expect(setup.settings == all.subtracting(.powered))
        _ = setup.succeeded(.stopDiscovery(.classic), [])
        #expect(setup.settings == all.subtracting(.powered))
    }

    @Test(arguments: [ManagementCommand.setLowEnergy(true), .setBondable(true)])
    func refusedCommand_isNotRepeated_andTheOtherStillIs(command: ManagementCommand) {
        var setup = setup(current: [.powered, .classic])
        setup.refused(command)
        let other: ManagementCommand = command == .setBondable(true) ? .setLowEnergy(true) : .setBondable(true)
        #expect(setup.command(for: slots, at: .origin) == other)
        setup.refused(other)
        #expect(setup.command(for: slots, at: .origin) == nil)
        // What it is does not change when it is read again.
        setup.forget()
        #expect(setup.command(for: slots, at: .origin) == .readInfo)
        var info = AdapterProbe.dual
        info.current = [.powered, .classic]
        _ = setup.succeeded(.readInfo, ManagementSamples.bytes(of: info))
        #expect(setup.command(for: slots, at: .origin) == nil)
    }

    @Test func answerThatCannotBeRead_changesNothing() {
        var setup = setup(current: all)
        let isValid = setup.succeeded(.readInfo, [1, 2, 3])
        #expect(!isValid)
        #expect(setup.settings == all)
        #expect(setup.info != nil)
    }

    @Test func forgetting_isOfTheSettingsToo_butNotAfterSwitchingOn() {
        var setup = setup(current: all)
        setup.forgetInfo()
        #expect(setup.info == nil)
        #expect(setup.isPowered)
        setup.forget()
        #expect(!setup.isPowered)
        #expect(setup.isBondable == nil)
    }

    @Test func rfkill_takesThePower_andNothingElse() {
        var setup = setup(current: all)
        setup.blocked()
        #expect(setup.settings == all.subtracting(.powered))
    }

    /// Without power, Classic or Bondable's support there is nothing to contest.
    @Test func contest_isOverWhatIsLacking() {
        var setup = setup(current: all)
        var now = MonotonicTime.origin
        var notes: [AdapterAction] = []
        for _ in 0..<4 {
            _ = setup.changed(to: all, at: now)
            notes += setup.changed(to: all.subtracting(.bondable), at: now)
            now = setup.bondableTime ?? now
            _ = setup.bondableCommand(for: slots, at: now)
        }
        #expect(notes == [.noteBondableContested])
        #expect(setup.isBondableContested)
        for left in [ControllerSettings.powered, .classic] {
            var less = setup
            _ = less.changed(to: all.subtracting([.bondable, left]), at: now)
            #expect(!less.isBondableContested)
            #expect(less.bondableTime == nil)
        }
        _ = setup.changed(to: all, at: now)
        #expect(!setup.isBondableContested)
    }
}
