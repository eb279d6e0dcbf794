import Glibc
import LinuxIO
import Testing

/// The kernel's answers about one socket, as bytes.
struct SocketDiagnosisTests {
    private let client = LocalPeer.End(address: [127, 0, 0, 1], port: 0xC404)
    private let server = LocalPeer.End(address: [127, 0, 0, 1], port: 0x21C2)

    private func word(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }

    /// `struct nlmsghdr` and `struct inet_diag_msg`.
    private func answer(
        type: UInt16 = 20, family: UInt8 = 2, state: UInt8 = 1, from: [UInt8] = [127, 0, 0, 1], user: UInt32 = 1000,
        inode: UInt32 = 7
    ) -> [UInt8] {
        let header = word(88) + withUnsafeBytes(of: type) { Array($0) } + [0, 0] + word(1) + word(0)
        let sockets = [from, [127, 0, 0, 1]].flatMap { address in
            (family == 2 ? [] : [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]) + address
                + [UInt8](repeating: 0, count: family == 2 ? 12 : 0)
        }
        let identity: [UInt8] = [family, state, 0, 0, 0xC4, 0x04, 0x21, 0xC2] + sockets
        let numbers: [UInt32] = [0, 9, 0, 0, 0, 0, user, inode]
        return header + identity + numbers.flatMap(word)
    }

    private func decode(_ bytes: [UInt8]) -> SocketDiagnosis.Answer {
        SocketDiagnosis.decode(bytes, client: client, server: server)
    }

    @Test func request_isAsTheKernelTakesIt() throws {
        let bytes = try #require(SocketDiagnosis.request(for: client, to: server))
        #expect(bytes.count == 72)
        #expect(bytes[16..<20] == [UInt8(AF_INET), 6, 0, 0])
        #expect(bytes[24..<36] == [0xC4, 0x04, 0x21, 0xC2, 127, 0, 0, 1, 0, 0, 0, 0])
    }

    @Test func openSocket_isItsUsers() {
        #expect(decode(answer()) == .known(.init(user: 1000, inode: 7)))
        #expect(decode(answer(family: UInt8(AF_INET6))) == .known(.init(user: 1000, inode: 7)))
    }

    @Test(arguments: [2, 4, 5, 6, 7, 8, 9, 10, 11, 12] as [UInt8])
    func socketInAnyOtherState_isNobodys(state: UInt8) {
        #expect(decode(answer(state: state, user: 0)) == .known(nil))
    }

    @Test func socketWithoutAFile_orOfOtherEnds_isNobodys() {
        #expect(decode(answer(user: 0, inode: 0)) == .known(nil))
        #expect(decode(answer(from: [127, 0, 0, 2])) == .known(nil))
    }

    @Test func refusal_andHalfAnAnswer_sayNothing() {
        #expect(decode(answer(type: 2)) == .unknown)
        for count in 0..<88 { #expect(decode(Array(answer().prefix(count))) == .unknown) }
    }

    @Test func endsThatAreNoPair_areNotAskedFor() {
        #expect(SocketDiagnosis.request(for: client, to: .init(address: [1, 2], port: 1)) == nil)
        #expect(SocketDiagnosis.request(for: client, to: .init(address: server.address, port: 70_000)) == nil)
        let other = LocalPeer.End(address: [UInt8](repeating: 0, count: 15) + [1], port: 1)
        #expect(SocketDiagnosis.request(for: client, to: other) == nil)
    }
}
