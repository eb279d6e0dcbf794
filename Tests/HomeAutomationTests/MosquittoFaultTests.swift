import CMosquitto
import Domain
import Glibc
import Testing

@testable import HomeAutomation

/// What is said, and advised, of each way in which there is no link.
struct MosquittoFaultTests {
    private func settings(
        _ url: String = "mqtt://broker.lan", credentials: String? = nil, certificate: String? = nil
    ) throws -> MosquittoLink.Settings {
        var settings = MosquittoLink.Settings(address: try BrokerAddress(url), clientID: "metergateway-1")
        settings.credentialsPath = credentials
        settings.certificatePath = certificate
        return settings
    }

    private func failed(_ code: mosq_err_t, system: Int32 = 0, complaint: String? = nil, wasOpen: Bool = false)
        -> MosquittoFault
    {
        .failed(code: Int32(code.rawValue), system: system, complaint: complaint, wasOpen: wasOpen)
    }

    @Test(arguments: [134, 135] as [Int32])
    func refusedPassword_namesTheFile_orAsksForOne(reason: Int32) throws {
        let wrong = MosquittoFault.refused(reason).trouble(try settings(credentials: "/etc/meterd/broker"))
        let none = MosquittoFault.refused(reason).trouble(try settings())

        #expect(wrong.message.hasPrefix("the broker refuses us: "))
        #expect(wrong.message == none.message)
        #expect(wrong.next?.contains("/etc/meterd/broker") == true)
        #expect(none.next?.contains("credentials-file") == true)
    }

    @Test(arguments: [132, 1] as [Int32])
    func oldBroker_isSaidToBeOne(reason: Int32) throws {
        let trouble = MosquittoFault.refused(reason).trouble(try settings())

        #expect(trouble.message == "the broker does not speak MQTT 5")
        #expect(trouble.next?.contains("1.6") == true)
    }

    @Test func unknownHost_isNamed() throws {
        let trouble = failed(MOSQ_ERR_EAI, system: -2).trouble(try settings())

        #expect(trouble.message == "the broker's host broker.lan is not found")
        #expect(trouble.next?.contains("getent hosts broker.lan") == true)
    }

    @Test func nothingThatListens_isToldFromAHostThatIsAway() throws {
        let refused = failed(MOSQ_ERR_ERRNO, system: ECONNREFUSED).trouble(try settings())
        let away = failed(MOSQ_ERR_ERRNO, system: EHOSTUNREACH).trouble(try settings())

        #expect(refused.message == "nothing listens at mqtt://broker.lan:1883: Connection refused")
        #expect(refused.next?.contains("is the broker running") == true)
        #expect(away.message == "broker.lan cannot be reached: No route to host")
        #expect(away.next?.contains("on this network") == true)
    }

    @Test func certificate_isToldFromAPortWithoutTLS() throws {
        let complaint = "OpenSSL Error[0]: error:0A000086:SSL routines::certificate verify failed"
        let own = failed(MOSQ_ERR_TLS, complaint: complaint)
            .trouble(try settings("mqtts://broker.lan", certificate: "/etc/meterd/ca.pem"))
        let systems = failed(MOSQ_ERR_TLS, complaint: complaint).trouble(try settings("mqtts://broker.lan"))
        let plain = failed(MOSQ_ERR_TLS, complaint: "error:0A00010B:SSL routines::wrong version number")
            .trouble(try settings("mqtts://broker.lan"))

        #expect(own.message == "TLS: \(complaint)")
        #expect(own.next?.hasPrefix("/etc/meterd/ca.pem has to hold") == true)
        #expect(own.next?.hasSuffix("for broker.lan") == true)
        #expect(systems.next?.contains("[mqtt] ca-file") == true)
        #expect(plain.next?.contains("port 8883") == true && plain.next?.contains("mqtt://") == true)
    }

    @Test func longComplaint_isCut() throws {
        let trouble = failed(MOSQ_ERR_TLS, complaint: String(repeating: "x", count: 5000)).trouble(try settings())

        #expect(trouble.message.utf8.count == 205)
    }

    /// A plain client at a TLS port hears nothing but the end.
    @Test func connectionThatIsCutBeforeAnyWord_asksForTheOtherScheme() throws {
        let plain = failed(MOSQ_ERR_CONN_LOST).trouble(try settings())
        let encrypted = failed(MOSQ_ERR_CONN_LOST).trouble(try settings("mqtts://broker.lan"))
        let later = failed(MOSQ_ERR_CONN_LOST, wasOpen: true).trouble(try settings())

        #expect(plain.message == "mqtt://broker.lan:1883 closed the connection without a word")
        #expect(plain.next?.hasSuffix("begins with mqtts://") == true)
        #expect(encrypted.next?.hasSuffix("begins with mqtt://") == true)
        #expect(later.message == "The connection was lost")
        #expect(later.next?.contains("tries again") == true)
    }

    @Test func takenOverSession_namesTheClient() throws {
        let trouble = MosquittoFault.dismissed(142).trouble(try settings())

        #expect(trouble.message == "the broker closed the link: Session taken over")
        #expect(trouble.next?.contains("metergateway-1") == true)
    }

    /// Whatever the numbers are, there are words, and something to do.
    @Test func everyNumber_hasWords() throws {
        let settings = try settings()
        for code in Int32(-300)...300 {
            let faults: [MosquittoFault] = [
                .refused(code), .dismissed(code),
                .failed(code: code, system: code, complaint: nil, wasOpen: code.isMultiple(of: 2)),
                .failed(code: MosquittoCode.systemError, system: code, complaint: nil, wasOpen: false),
            ]
            for fault in faults {
                let trouble = fault.trouble(settings)
                #expect(!trouble.message.isEmpty && trouble.next?.isEmpty == false, "\(fault)")
            }
        }
    }
}
