import Domain
import Testing

@testable import meterd

struct CloudConfigurationTests {
    private func read(_ text: String) throws -> Configuration { try Configuration(reading: text) }

    @Test func defaults_serveNoCloud() throws {
        let cloud = try read("").cloud

        #expect(cloud == Configuration.Cloud())
        #expect(!cloud.serves)
        #expect(cloud.listen == Configuration.Cloud.Listen(host: "0.0.0.0", port: 8643))
    }

    @Test func everyKey_isRead() throws {
        let configuration = try read(
            """
            host-name = "bench pi"
            [cloud]
            serve = true
            listen = "[::1]:9000"
            policy = "strict"
            lease-ttl = "60s"
            """)

        #expect(configuration.hostName == "bench pi")
        #expect(configuration.cloud.serves)
        #expect(configuration.cloud.listen == Configuration.Cloud.Listen(host: "::1", port: 9000))
        #expect(configuration.cloud.policy == .strict)
        #expect(configuration.cloud.timeToLive == .seconds(60))
    }

    @Test(arguments: [
        ("[cloud]\nserve = 1", "meterd.toml: cloud.serve has the wrong type\nit takes true or false"),
        ("[cloud]\npolicy = \"lax\"", "meterd.toml: cloud.policy cannot be \"lax\"\nit takes \"keep\" or \"strict\""),
        (
            "[cloud]\nlease-ttl = \"5s\"",
            "meterd.toml: cloud.lease-ttl cannot be \"5s\"\nit takes a time from 30s to 10m"
        ),
        ("[cloud]\nserv = true", "meterd.toml: unknown key \"cloud.serv\"\ndid you mean \"cloud.serve\"?"),
        (
            "[cloud]\nlisten = \"0.0.0.0\"",
            "meterd.toml: cloud.listen cannot be \"0.0.0.0\"\nit takes address:port, as 0.0.0.0:8643"
        ),
        ("host-name = \"\"", "meterd.toml: host-name cannot be \"\"\nit takes a text of 1 to 64 characters"),
    ])
    func illegalValue_isNamedWithWhatIsLegal(text: String, words: String) {
        var said: String?

        do { _ = try read(text) } catch { said = "\(error)" }

        #expect(said == words)
    }

    @Test func environment_namesTheHost() throws {
        var configuration = try read("host-name = \"a\"")

        try configuration.apply(environment: ["METERD_HOST_NAME": "b"])

        #expect(configuration.hostName == "b")
    }
}
