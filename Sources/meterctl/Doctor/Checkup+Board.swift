import Domain
import GatewayAPI

extension Checkup {
    /// Returns a finding if another program scans with the adapter. meterd then finds only the devices of that scan.
    func otherSearch(_ adapter: AdapterStatus) -> Finding? {
        guard adapter.discovery == .another else { return nil }
        let name = adapter.name ?? adapter.address
        let others = machine.bluetoothDaemon == nil ? "" : ", perhaps through bluetoothd"
        return Finding(
            "discovery", .note,
            "another program searches over \(name)\(others), so meterd hears what that one hears and begins no search",
            next:
                "if a meter is missing, end the other search: bluetoothctl scan off, a desktop's Bluetooth settings, "
                + "or the Bluetooth integration of Home Assistant")
    }

    /// Finding for a disabled on-board adapter. With `dtoverlay=disable-bt` (raspberrypi/linux,
    /// overlays/disable-bt-overlay.dts), it is absent, not broken: the overlay connects the chip's UART to the board's
    /// pins.
    var ownRadioOff: Finding? {
        guard let line = machine.radioSwitchedOff, !machine.adapters.contains(where: { $0.usb == nil }) else {
            return nil
        }
        return Finding(
            "adapter", machine.adapters.isEmpty ? .problem : .note,
            "the Bluetooth of this \(machine.boardModel ?? "board") is switched off by \"\(line.text)\" in \(line.file)",
            next: "remove that line and restart; if something else needs the UART at the pins, use a USB adapter")
    }

    /// Finding that Wi-Fi and Bluetooth share one antenna. Bluetooth's 2402 to 2480 MHz overlap Wi-Fi's lower band. Bug
    /// reports: raspberrypi/linux#1444, RPi-Distro/bluez-firmware#12 and #13.
    var sharedAntenna: Finding? {
        guard let board = machine.boardModel, board.contains("Raspberry Pi"), let wireless = machine.wirelessInterface,
            machine.adapters.contains(where: { $0.usb == nil })
        else { return nil }
        let words = "this \(board) shares one antenna between Bluetooth and \(wireless)"
        let next = "if links drop: use Ethernet or Wi-Fi at 5 GHz, or a USB Bluetooth adapter"
        switch machine.wirelessFrequency {
        case nil: return Finding("coexistence", .note, words, next: next)
        case let frequency? where frequency < 3000:
            return Finding(
                "coexistence", .note, "\(words), which is at \(frequency) MHz, in Bluetooth's own band", next: next)
        case let frequency?:
            return Finding("coexistence", .ok, "\(words), which is at \(frequency) MHz, out of Bluetooth's band")
        }
    }

    /// Finding for under-voltage within the last seconds (drivers/hwmon/raspberrypi-hwmon.c).
    var supply: Finding? {
        guard machine.isUnderVoltage == true else { return nil }
        return Finding(
            "supply", .problem, "this board's supply is too low (under-voltage)",
            next:
                "use the board's own supply and a short cable, and a powered hub for what is plugged in: radio and USB "
                + "fail first")
    }

    /// - Parameter known: the daemon's adapters. If one works again, its finding is only a note.
    func timeouts(besides known: [AdapterStatus]) -> [Finding] {
        guard !machine.adapters.isEmpty else { return [] }
        guard let timeouts = machine.commandTimeouts else {
            return [
                Finding(
                    "kernel log", .note,
                    "no permission to read it, so commands that an adapter left unanswered stay unknown",
                    next: "sudo meterctl doctor")
            ]
        }
        return timeouts.map { one in
            let works = known.contains { $0.name == one.adapter && $0.state == .searching && $0.heard > 0 }
            let times = one.count == 1 ? "a command" : "\(one.count) commands"
            let words =
                "\(one.adapter) left \(times) of the kernel unanswered since the start, the last one "
                + "0x\(one.opcode.fourHexDigits)"
            if works { return Finding("chip", .note, words + "; it works now") }
            let isSerial = machine.adapters.first { $0.name == one.adapter }?.serialDevice != nil
            return Finding(
                "chip", .problem, words,
                next: isSerial
                    ? "as a service, meterd rebinds its serial device; if that does not help, restart the machine"
                    : "unplug it and plug it in again, or restart the machine")
        }
    }
}
