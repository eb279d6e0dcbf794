import Notifications
import Testing

struct NotificationTargetTests {
    @Test(arguments: [
        "", "ftp://a", "http://", "http://user:word@a/", "https://a b", "https://a/#x", "//a", "http://:80/",
        "https:///x",
    ])
    func whatIsNoAddress_isRefused(text: String) {
        #expect(NotificationAddress(text) == nil)
    }

    @Test func address_printsWithoutItsPath() throws {
        let address = try #require(NotificationAddress("https://hooks.example.org:8443/T0/secret?key=1"))

        #expect("\(address)" == "https://hooks.example.org:8443")
        var dumped = ""
        dump(address, to: &dumped)
        #expect(!dumped.contains("secret"))
        #expect(!String(reflecting: address).contains("secret"))
    }
}
