import Glibc
import NIOCore
import ServerKit
import Testing

struct ListenFailureTests {
    private func failure(_ code: Int32, holder: String? = nil) -> ListenFailure {
        ListenFailure(
            IOError(errnoCode: code, reason: "bind"), at: "0.0.0.0:8643", setting: "[cloud] listen", holder: { holder })
    }

    @Test func takenPort_namesWhoHasIt() {
        let failure = failure(EADDRINUSE, holder: "metercloud, process 12")

        #expect(
            failure.message
                == "nothing can be served on 0.0.0.0:8643: Address already in use, by metercloud, process 12")
        #expect(failure.next == "end that one, or choose another port with [cloud] listen")
    }

    @Test func takenPort_ofWhomeverElse_saysHowToFindOut() {
        let failure = failure(EADDRINUSE)

        #expect(failure.message == "nothing can be served on 0.0.0.0:8643: Address already in use")
        #expect(failure.next.contains("ss -ltnp"))
    }

    /// Nobody has the port then, so nobody is named for it.
    @Test(arguments: [(EACCES, "root"), (EADDRNOTAVAIL, "no such address"), (EIO, "another address")])
    func otherCauses_haveTheirOwnAdvice(code: Int32, advice: String) {
        let failure = failure(code, holder: "sshd, process 1")

        #expect(failure.next.contains(advice))
        #expect(!failure.message.contains("sshd"))
    }
}
