import ArgumentParser
import CloudEtcd
import FoundationEssentials
import LinuxIO
import ProgramKit

struct EtcdOptions: ParsableArguments {
    @Option(
        name: .customLong("etcd"),
        help: ArgumentHelp("URL of an etcd member, such as http://127.0.0.1:2379. Repeatable.", valueName: "url"))
    var urls: [String] = []

    @Option(help: ArgumentHelp("Prefix of all keys in etcd. Default: metercloud/.", valueName: "text"))
    var etcdPrefix: String?

    @Option(help: ArgumentHelp("Name of the etcd user, if etcd has users.", valueName: "name"))
    var etcdUser: String?

    @Option(help: ArgumentHelp("File whose first line is the password of the etcd user.", valueName: "file"))
    var etcdPasswordFile: String?

    @Option(
        help: ArgumentHelp("File with the CA certificates that sign etcd's certificate, in PEM.", valueName: "file"))
    var etcdCa: String?

    @Option(help: ArgumentHelp("Client certificate of metercloud for etcd, in PEM.", valueName: "file"))
    var etcdCert: String?

    @Option(help: ArgumentHelp("Private key of the client certificate, in PEM.", valueName: "file"))
    var etcdKey: String?

    var isAny: Bool {
        !urls.isEmpty || [etcdPrefix, etcdUser, etcdPasswordFile, etcdCa, etcdCert, etcdKey].contains { $0 != nil }
    }

    func validate() throws {
        if etcdPrefix?.isEmpty == true { throw ValidationError("--etcd-prefix cannot be empty") }
        if (etcdUser == nil) != (etcdPasswordFile == nil) {
            throw ValidationError("--etcd-user and --etcd-password-file belong together; give both or none")
        }
        if (etcdCert == nil) != (etcdKey == nil) {
            throw ValidationError("--etcd-cert and --etcd-key belong together; give both or none")
        }
    }

    var settings: EtcdSettings {
        get throws {
            var settings = EtcdSettings(urls: urls)
            // With a final slash, no cloud's prefix is the beginning of another cloud's.
            if let etcdPrefix { settings.prefix = etcdPrefix.hasSuffix("/") ? etcdPrefix : etcdPrefix + "/" }
            settings.user = etcdUser
            if let etcdPasswordFile { settings.password = try Self.password(in: etcdPasswordFile) }
            settings.authorities = etcdCa
            settings.certificate = etcdCert
            settings.key = etcdKey
            return settings
        }
    }

    private static func password(in path: String) throws -> String {
        let text: String
        do {
            text = try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            throw CommandFailure(
                .error, "\(path) cannot be read", next: "name a file with the password of etcd's user in it")
        }
        guard let line = text.split(separator: "\n", omittingEmptySubsequences: false).first, !line.isEmpty else {
            throw CommandFailure(.error, "\(path) is empty", next: "write the password of etcd's user into it")
        }
        return String(line)
    }
}

struct StoreOptions: ParsableArguments {
    enum Engine: String, ExpressibleByArgument, CaseIterable {
        case sqlite, etcd
    }

    @Option(help: "Kind of store: sqlite (a file in the cloud's folder) or etcd (shared by replicas of metercloud).")
    var engine = Engine.sqlite

    @OptionGroup var etcdOptions: EtcdOptions

    func validate() throws {
        switch engine {
        case .sqlite:
            if etcdOptions.isAny {
                throw ValidationError("--etcd and what begins with it are for --engine etcd; give that too")
            }
        case .etcd:
            if etcdOptions.urls.isEmpty {
                throw ValidationError("--engine etcd needs --etcd URL, such as http://127.0.0.1:2379")
            }
        }
    }

    var etcd: EtcdSettings? {
        get throws { engine == .etcd ? try etcdOptions.settings : nil }
    }
}

extension CommandFailure {
    init(_ error: EtcdError) {
        let (what, remedy) = error.parts
        self.init(error.code == .badSetting ? .usage : .error, what, next: remedy ?? "see Docs/Scale.md")
    }
}
