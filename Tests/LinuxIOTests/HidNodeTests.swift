import Domain
import Gateway
import Glibc
import Testing

@testable import LinuxIO

struct HidNodeTests {
    @Test func forbiddenNode_namesTheRulesFileAndTheGroup() {
        let failure = ChannelFailure(Errno(EACCES), opening: "/dev/hidraw3")
        #expect(failure.code == .permission)
        for word in ["/dev/hidraw3", "60-meter-gateway.rules", "61-meter-gateway-access.rules", "plugdev"] {
            #expect(failure.message.contains(word))
        }
    }

    @Test(arguments: [(ENOENT, ChannelFailure.Code.missing), (ENODEV, .missing), (EBUSY, .busy), (EIO, .lost)])
    func nodeThatCannotBeOpened_saysWhy(code: Int32, expected: ChannelFailure.Code) {
        #expect(ChannelFailure(Errno(code), opening: "/dev/hidraw3").code == expected)
    }
}
