import Domain
import Gateway
import NIOCore
import ServerKit
import Synchronization

/// Logins of a page that is open to the network. They end by expiry, by logout, or by a new access token.
package final class WebLogins: Sendable {
    private struct State {
        var credentials: WebCredentials
        /// Connections by login, so that a logout ends their streams.
        var connections: [String: [ObjectIdentifier: any Channel]] = [:]
    }

    private let state: Mutex<State>
    private let makeRNG: @Sendable () -> any RandomNumberGenerator
    private let keep: @Sendable (WebCredentials) async throws(GatewayError) -> Void

    init(
        _ credentials: WebCredentials, makeRNG: @escaping @Sendable () -> any RandomNumberGenerator,
        keep: @escaping @Sendable (WebCredentials) async throws(GatewayError) -> Void
    ) {
        state = Mutex(State(credentials: credentials))
        self.makeRNG = makeRNG
        self.keep = keep
    }

    func admits(_ token: BearerToken) -> Bool { state.withLock { $0.credentials.admits(token) } }

    /// Returns whether the login is valid. If so, the connection ends with the login.
    func admits(login: String, at now: WallTime, on channel: any Channel) -> Bool {
        let id = ObjectIdentifier(channel)
        let (isAdmitted, isNew) = state.withLock { state in
            guard state.credentials.admits(login: login, at: now) else { return (false, false) }
            return (true, state.connections[login, default: [:]].updateValue(channel, forKey: id) == nil)
        }
        if isNew { channel.closeFuture.whenComplete { _ in self.forget(id, of: login) } }
        return isAdmitted
    }

    func begin(at now: WallTime) -> String {
        let rng: any RandomNumberGenerator = makeRNG()
        return state.withLock { Self.login($0.credentials, now, rng) }
    }

    /// Ends a login and its connections, except the requesting one.
    ///
    /// - Throws: if the end cannot be stored. The login is then valid again after a restart.
    func end(_ login: String, at now: WallTime, from channel: any Channel) async throws(GatewayError) {
        let rng: any RandomNumberGenerator = makeRNG()
        let (changed, others) = state.withLock { state -> (WebCredentials?, [any Channel]) in
            guard state.credentials.admits(login: login, at: now) else { return (nil, []) }
            Self.end(login, &state.credentials, now, rng)
            let connections = state.connections.removeValue(forKey: login) ?? [:]
            return (state.credentials, connections.filter { $0.key != ObjectIdentifier(channel) }.map(\.value))
        }
        for other in others { other.close(promise: nil) }
        if let changed { try await keep(changed) }
    }

    private func forget(_ connection: ObjectIdentifier, of login: String) {
        state.withLock { state in
            state.connections[login]?[connection] = nil
            if state.connections[login]?.isEmpty == true { state.connections[login] = nil }
        }
    }

    private static func login(
        _ credentials: WebCredentials, _ now: WallTime, _ rng: some RandomNumberGenerator
    ) -> String {
        var rng = rng
        return credentials.login(at: now, using: &rng)
    }

    private static func end(
        _ login: String, _ credentials: inout WebCredentials, _ now: WallTime, _ rng: some RandomNumberGenerator
    ) {
        var rng = rng
        credentials.end(login: login, at: now, using: &rng)
    }
}
