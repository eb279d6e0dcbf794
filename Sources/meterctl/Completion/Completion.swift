import ArgumentParser
import Domain
import GatewayAPI
import MeterCodec

/// Shell completions that require the daemon. If it does not answer quickly, there are none, because an error or a
/// delay would disturb the user's typing.
struct Completion {
    let words: TypedWords
    let prefix: String
    private let client: ControlClient

    private static let patience = Duration.seconds(1)

    init(_ words: [String], at index: Int, prefix: String) {
        self.words = TypedWords(words, before: index)
        self.prefix = prefix.unquoted
        client = DaemonOptions.client(at: self.words.socket)
    }

    private func ask<Answer: Decodable>(_ path: String) async -> Answer? {
        try? await client.call(.get, path, patience: Self.patience)
    }

    private func askAboutMeter<Answer: Decodable>(_ rest: String) async -> Answer? {
        guard let meter = words.positionals.first, let path = try? meterPath(meter, rest) else { return nil }
        return await ask(path)
    }

    // MARK: What is offered

    func meters() async -> [String] {
        let status: GatewayStatus? = await ask("/v1/status")
        return Self.handles(of: status?.meters ?? [])
    }

    /// Returns the meters' names, then their ids, then models with only one meter.
    static func handles(of meters: [MeterStatus]) -> [String] {
        let models = meters.compactMap(\.model)
        let unique = models.filter { model in models.count { $0 == model } == 1 }
        var handles: [String] = []
        for handle in meters.compactMap(\.name) + meters.map(\.id) + unique where !handles.contains(handle) {
            handles.append(handle)
        }
        return handles
    }

    /// Returns the meter's commands; all known commands if meterd lists none for the meter; none if meterd does not
    /// answer.
    func commands() async -> [String] {
        let body: CommandsBody? = await askAboutMeter("/commands")
        guard let known = body?.commands, !known.isEmpty else {
            return body == nil ? [] : MeterCommand.Kind.allCases.map(\.rawValue)
        }
        return known.map(\.command)
    }

    /// Returns the numbers that the command accepts; none if there are more than `choicesMax`.
    func numbers() async -> [String] {
        let body: CommandsBody? = await askAboutMeter("/commands")
        guard let name = words.positionals.last, let command = body?.commands.first(where: { $0.command == name }),
            let least = command.least, let greatest = command.greatest
        else { return [] }
        return Self.numbers(from: least, to: greatest, step: command.step ?? 1)
    }

    private static func numbers(from least: Int, to greatest: Int, step: Int) -> [String] {
        guard (greatest - least) / max(1, step) < choicesMax else { return [] }
        return stride(from: least, through: greatest, by: max(1, step)).map { "\($0)" }
    }

    private static let choicesMax = 40

    func keys() async -> [String] {
        let body: SettingsBody? = await askAboutMeter("/settings")
        return body?.details?.map(\.key) ?? body?.known ?? []
    }

    /// Returns `key=` for each setting; after `key=`, its legal values or its current value.
    func changes() async -> [String] {
        let body: SettingsBody? = await askAboutMeter("/settings")
        return Self.changes(of: body?.details ?? [], prefix: prefix)
    }

    static func changes(of settings: [SettingBody], prefix: String) -> [String] {
        guard let key = prefix.split(separator: "=", omittingEmptySubsequences: false).first, prefix.contains("="),
            let setting = settings.first(where: { $0.key == key })
        else { return settings.map { "\($0.key)=" } }
        let values = setting.values ?? [setting.value ?? setting.default].compactMap(\.self)
        return values.map { "\(setting.key)=\($0)" }
    }

    /// Returns the ids and the unique names of recordings.
    func recordings() async -> [String] {
        let body: RecordingsBody? = await ask("/v1/recordings")
        let names = body?.recordings.compactMap(\.name) ?? []
        return names.filter { name in names.count { $0 == name } == 1 } + (body?.recordings.map(\.id) ?? [])
    }

    func aliases() async -> [String] {
        let body: MeterAliases? = await ask("/v1/aliases")
        return body?.aliases.map(\.alias) ?? []
    }

    func parked() async -> [String] {
        let body: ParkedBody? = await ask("/v1/sync/parked")
        return body?.entries.map(\.id) ?? []
    }

    func hosts() async -> [String] {
        let body: WhoBody? = await ask("/v1/leases")
        let leases = body?.leases.filter { !$0.mine } ?? []
        return Swift.Set(leases.compactMap(\.holder) + leases.flatMap(\.waiting)).sorted()
    }
}

extension CompletionKind {
    private static func daemon(_ offer: @escaping @Sendable (Completion) async -> [String]) -> CompletionKind {
        .custom { (words: [String], index: Int, prefix: String) async -> [String] in
            let offered = await offer(Completion(words, at: index, prefix: prefix))
            // Escape colons for zsh: the first one begins a choice's description.
            guard CompletionShell.requesting == .zsh else { return offered }
            return offered.map { $0.replacing(":", with: "\\:") }
        }
    }

    static var meters: CompletionKind { daemon { await $0.meters() } }
    static var meterCommands: CompletionKind { daemon { await $0.commands() } }
    static var commandNumbers: CompletionKind { daemon { await $0.numbers() } }
    static var settingKeys: CompletionKind { daemon { await $0.keys() } }
    static var settingChanges: CompletionKind { daemon { await $0.changes() } }
    static var recordings: CompletionKind { daemon { await $0.recordings() } }
    static var aliases: CompletionKind { daemon { await $0.aliases() } }
    static var parked: CompletionKind { daemon { await $0.parked() } }
    static var hosts: CompletionKind { daemon { await $0.hosts() } }
    static var models: CompletionKind { .list(MeterCatalogue.standard.models.map(\.rawValue)) }
    static var decoders: CompletionKind { .list(MeterCatalogue.standard.decoderNames) }
    static var links: CompletionKind { .list(LinkAddress.Transport.allCases.map(\.rawValue)) }
}

extension ArgumentHelp {
    /// Help of an argument that names a meter.
    static let meter: ArgumentHelp = "Name or id of the meter, as shown by meterctl status."
}
