import Domain
import LinuxIO

struct SerialLink: DescriptorLink {
    let path: String
    let baudRate: Int

    var name: String { path }
    var framing: Framing { .stream }
    var remedy: String { "Unplug the meter and plug it in again." }

    func open() throws(ChannelFailure) -> OpenedLink {
        .open(try SerialLine(opening: path, baudRate: baudRate))
    }

    func failure(losing reason: Errno?) -> ChannelFailure { .unplugged(path, reason) }
}

extension ChannelFailure {
    static func unplugged(_ path: String, _ reason: Errno?) -> ChannelFailure {
        let words = reason?.description ?? "it hung up"
        return ChannelFailure(.lost, "\(path) is gone: \(words). Is the meter still plugged in and switched on?")
    }
}
