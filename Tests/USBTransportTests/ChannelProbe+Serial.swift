import Domain
import Gateway
import LinuxIO
import MeterTestKit
import USBTransport

extension ChannelProbe {
    /// Opens a serial port.
    ///
    /// - Parameter stallLimit: by default longer than any busy machine keeps a test waiting.
    convenience init(_ path: String, on loop: IOLoop, stallLimit: Duration = .seconds(3600)) async throws {
        let opener = SerialChannelOpener(loop: loop, stallLimit: stallLimit)
        try await self.init(on: loop) {
            opener.open(.serial(path: path), as: LineSettings(baudRate: 115_200), handle: $0)
        }
    }
}
