import Gateway
import GatewayAPI
import GatewayServer
import Hummingbird
import MeterTestKit
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10)))
struct MembershipRoutesTests {
    private let bench = ServerBench()
    private let joining = ScriptedJoining()

    private func request(
        _ method: HTTPRequest.Method, _ uri: String, _ body: String? = nil
    ) async throws -> Answer {
        try await bench.request(method, uri, body, with: [MembershipRoutes(joining: joining)])
    }

    @Test func status_ofAHostOnItsOwn_hasNulls_andNoMissingKeys() async throws {
        let answer = try await request(.get, "/v1/cloud")

        #expect(
            answer.text
                == #"{"clock_offset_ms":null,"connected":false,"error":null,"host_id":"h","host_name":"pi","#
                + #""joined":false,"pin":null,"policy":null,"role":null,"serving":null,"#
                + #""unserved":null,"urls":[],"zone":null}"#)
    }

    @Test func join_passesOnWhatWasAsked_andAnswersWithoutTheToken() async throws {
        let answer = try await request(
            .post, "/v1/cloud/join", #"{"urls":["https://a:1","https://b:1"],"token":"mgt_secret","pin":"sha256:00"}"#)

        #expect(
            joining.asked == [
                CloudJoinRequest(urls: ["https://a:1", "https://b:1"], token: "mgt_secret", pin: "sha256:00")
            ])
        let status = try answer.decode(CloudStatus.self)
        #expect(status.joined)
        #expect(status.urls == ["https://a:1", "https://b:1"])
        #expect(!answer.text.contains("mgt_secret"))
    }

    @Test func join_isRefused_inTheCloudsWords() async throws {
        joining.refuse(with: GatewayError(.permission, "this token is unknown", next: "make a new one"))

        let answer = try await request(.post, "/v1/cloud/join", #"{"urls":["https://a:1"],"token":"mgt_secret"}"#)

        #expect(answer.status == 403)
        #expect(answer.error == ErrorBody(code: .permission, message: "this token is unknown", next: "make a new one"))
    }

    @Test(arguments: [#"{"urls":[],"token":"mgt_secret"}"#, #"{"urls":["https://a:1"]}"#, #"{"token":"mgt_secret""#])
    func join_isRefused_whereSomethingIsMissing_andTheTokenNotShown(body: String) async throws {
        let answer = try await request(.post, "/v1/cloud/join", body)

        #expect(answer.status == 400)
        #expect(answer.error?.code == .badRequest)
        #expect(!answer.text.contains("mgt_secret"))
        #expect(joining.asked.isEmpty)
        #expect(bench.log.entries.allSatisfy { !"\($0)".contains("mgt_secret") })
    }

    @Test func host_isRetiredByItsName() async throws {
        let gone = try await request(.post, "/v1/cloud/hosts/old%20pi/retire").decode(RetiredHost.self)

        #expect(gone.name == "old pi" && gone.tokens == 1)
    }

    @Test func leave_leaves() async throws {
        _ = try await request(.post, "/v1/cloud/join", #"{"urls":["https://a:1"],"token":"mgt_secret"}"#)

        let status = try await request(.delete, "/v1/cloud").decode(CloudStatus.self)

        #expect(!status.joined)
    }
}

/// Joins whatever it is asked to.
final class ScriptedJoining: CloudJoining {
    private struct State {
        var asked: [CloudJoinRequest] = []
        var refusal: GatewayError?
        var status = CloudStatus(joined: false, host_id: "h", host_name: "pi")
    }

    private let state = Mutex(State())

    var asked: [CloudJoinRequest] { state.withLock { $0.asked } }

    func refuse(with error: GatewayError) { state.withLock { $0.refusal = error } }

    func join(_ request: CloudJoinRequest) async throws(GatewayError) -> CloudStatus {
        try state.withLock { state throws(GatewayError) in
            if let refusal = state.refusal { throw refusal }
            state.asked.append(request)
            state.status.joined = true
            state.status.urls = request.urls
            return state.status
        }
    }

    func leave() async throws(GatewayError) -> CloudStatus {
        state.withLock { state in
            state.status = CloudStatus(joined: false, host_id: "h", host_name: "pi")
            return state.status
        }
    }

    func status() async -> CloudStatus { state.withLock { $0.status } }

    func retire(_ host: String) async throws(GatewayError) -> RetiredHost {
        RetiredHost(id: "i", name: host, tokens: 1, leases: [])
    }
}
