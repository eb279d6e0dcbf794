package import Domain

package struct TCPLink: DescriptorLink {
    private let host: String
    private let port: Int
    private let limit: Duration

    /// - Parameter limit: timeout for each of the host's addresses.
    package init(host: String, port: Int, limit: Duration = .seconds(10)) {
        (self.host, self.port, self.limit) = (host, port, limit)
    }

    package var name: String { "\(host):\(port)" }
    package var framing: Framing { .stream }
    package var remedy: String { "Is it on, and in this network?" }

    package func open() throws(ChannelFailure) -> OpenedLink {
        do throws(TCPSocket.Failure) {
            return .open(try TCPSocket.connect(to: host, port: port, limit: limit))
        } catch {
            throw ChannelFailure(.unreachable, "cannot be reached (\(error))")
        }
    }

    package func failure(losing reason: Errno?) -> ChannelFailure {
        ChannelFailure(.lost, "ended the connection\(reason.map { " (\($0.words))" } ?? "")")
    }
}
