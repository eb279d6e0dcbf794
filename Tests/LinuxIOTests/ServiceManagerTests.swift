import Foundation
import Glibc
import LinuxIO
import MeterTestKit
import Testing

/// What reaches a service manager, over a real datagram socket.
@Suite(.timeLimit(.minutes(10)))
struct ServiceManagerTests {
    @Test(arguments: NotifySocket.Kind.allCases)
    func notices_areLinesOfOneDatagram(kind: NotifySocket.Kind) throws {
        let socket = try NotifySocket(kind)
        let manager = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": socket.name]))

        try manager.tell(.status("4 meters\nREADY=1"), .alive)
        try manager.tell(.ready, waiting: true)
        try manager.tell(.stopping, waiting: true)

        #expect(socket.receive() == "STATUS=4 meters\\nREADY=1\nWATCHDOG=1")
        #expect(socket.receive() == "READY=1")
        #expect(socket.receive() == "STOPPING=1")
    }

    @Test func limit_isThatOfThisProcess() throws {
        func limit(_ more: [String: String]) -> Duration? {
            let environment = ["NOTIFY_SOCKET": "/run/systemd/notify"].merging(more) { $1 }
            return ServiceManager(environment: environment, processID: 42)?.watchdogLimit
        }

        #expect(limit([:]) == nil)
        #expect(limit(["WATCHDOG_USEC": "30000000"]) == .seconds(30))
        #expect(limit(["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "42"]) == .seconds(30))
        #expect(limit(["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"]) == nil)
        for bad in ["", "0", "-5", "soon", "99999999999999999999"] { #expect(limit(["WATCHDOG_USEC": bad]) == nil) }
    }

    @Test(arguments: ["", "/", "@", "relative", "vsock:2:9999", "/\(String(repeating: "x", count: 108))", "/a\0b"])
    func otherAddresses_areNobody(name: String) {
        #expect(ServiceManager(environment: ["NOTIFY_SOCKET": name]) == nil)
    }

    @Test func withoutTheVariable_nobodyIsTold() {
        #expect(ServiceManager(environment: ["WATCHDOG_USEC": "30000000"]) == nil)
    }

    @Test func managerThatIsGone_isAnErrorAndNoTrap() throws {
        let name = try NotifySocket(.path).name
        let manager = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": name]))

        #expect(throws: Errno.self) { try manager.tell(.ready) }
    }

    /// A manager that reads nothing holds nobody up.
    @Test func managerThatIsBusy_isNotWaitedFor() throws {
        let socket = try NotifySocket(.path)
        let manager = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": socket.name]))

        #expect(throws: Errno(EAGAIN)) {
            for _ in 0..<100_000 { try manager.tell(.status(String(repeating: "x", count: 4000)), .alive) }
        }
    }
}
