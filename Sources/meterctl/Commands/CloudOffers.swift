import CloudAPI
import Domain
import Glibc
import LinuxIO
import ProgramKit
import SystemBus

/// Clouds announced in the network, for `meterctl cloud join` without an address.
struct CloudOffers {
    let clouds: [AnnouncedCloud]
    let isCut: Bool

    /// - Parameter pin: keeps only clouds that announce this pin; nil keeps all.
    init(_ found: FoundServices, pin: CertificatePin?) {
        clouds = found.services.compactMap { AnnouncedCloud($0) }.filter { pin == nil || $0.pin == pin }
            .sorted { ($0.name, $0.url) < ($1.name, $1.url) }
        isCut = found.isCut
    }

    /// The clouds' names are untrusted, because any host in the network can announce a cloud.
    var table: Table {
        var table = Table(["", "NAME", "ADDRESS", "FINGERPRINT"])
        for (index, cloud) in clouds.enumerated() {
            table.add([
                .init("\(index + 1)"), .init(cloud.name), .init(cloud.url, isWhole: true),
                .init("\(cloud.pin)", isWhole: true),
            ])
        }
        return table
    }

    /// Asks the user to choose a cloud and, without a pin, to compare its announced fingerprint with metercloud's
    /// output.
    static func choose(pin: String?) async throws -> AnnouncedCloud {
        let wanted = pin.flatMap { CertificatePin($0) }
        if let pin, wanted == nil {
            throw CommandFailure(.usage, "\"\(pin)\" is not a pin", next: "metercloud prints it: sha256:…")
        }
        let offers = CloudOffers(try await search(), pin: wanted)
        guard !offers.clouds.isEmpty else {
            let words = wanted == nil ? "" : " has that pin and"
            throw CommandFailure(.error, "no cloud\(words) answers in this network", next: giveAddress)
        }
        for line in offers.table.lines(fitting: nil, isPlain: true) { Terminal.talk(line) }
        if offers.isCut { Terminal.talk("and more") }
        guard isatty(STDIN_FILENO) == 1 else {
            throw CommandFailure(.usage, "no address is given, and there is no terminal to ask", next: giveAddress)
        }
        let cloud = try offers.chosen()
        if wanted == nil {
            Terminal.talk("Anybody in the network can announce a name and a fingerprint.")
            Terminal.talk("On the cloud's machine, metercloud printed its own at its start: journalctl -u metercloud")
            guard ConfirmationOption.isAgreed("is it \(cloud.pin), all of it") else {
                throw CommandFailure(.error, "nothing was done", next: "answer y if they are the same")
            }
        }
        return cloud
    }

    private static let giveAddress = "meterctl cloud join https://HOST:8643 --token-file FILE --pin sha256:…"

    private func chosen() throws -> AnnouncedCloud {
        guard clouds.count > 1 else { return clouds[0] }
        Terminal.talk("which one? [1-\(clouds.count)]")
        guard let number = readLine().flatMap({ Int($0) }), clouds.indices.contains(number - 1) else {
            throw CommandFailure(.error, "nothing was done", next: "answer with the number of one")
        }
        return clouds[number - 1]
    }

    private static func search() async throws -> FoundServices {
        let loop = try IOLoop(name: "search")
        loop.start()
        defer { loop.shutdown() }
        do throws(DiscoveryFault) {
            return try await AvahiDiscovery(loop: loop).services(of: AnnouncedCloud.service)
        } catch {
            throw CommandFailure(
                .error, "the search for clouds in the network failed: \(error.message)",
                next: "\(error.next), or \(giveAddress)")
        }
    }
}
