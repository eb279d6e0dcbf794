import ConnectionCore
import Logging
import MeterCodec
import MeterModel

/// What the meter itself is set to, told by commands.
extension DeviceSession {
    /// Tells the meter what is set and what it was not told over this link; in jeopardy nothing. A setting that was taken back leaves the
    /// meter as it is: nobody knows what it came with.
    func tellSettings() {
        guard exchange != nil, !isInJeopardy, var driver else { return }
        for command in settings.commands(for: driver.profile) where toldNumbers[command.kind] != command.number {
            do throws(CodecError) {
                let bytes = try driver.encode(command)
                commandQueue.append(QueuedCommand(command: command, bytes: bytes, sent: nil))
                exchange?.commandQueued()
                toldNumbers[command.kind] = command.number
            } catch {
                logger.warning("a setting is not for this meter", metadata: ["cause": "\(error)"])
            }
        }
        self.driver = driver
    }

    /// A command is on its way to the meter, whoever asked for it.
    func noteSent(_ command: MeterCommand) {
        guard MeterSettings.Key.allCases.contains(where: { $0.command == command.kind }) else { return }
        toldNumbers[command.kind] = command.number
    }

    /// A command was not sent after all.
    func noteDropped(_ command: MeterCommand) { toldNumbers[command.kind] = nil }
}
