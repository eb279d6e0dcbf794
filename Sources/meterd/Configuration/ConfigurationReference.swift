/// Text of meterd.toml with every key: printed by `meterd --print-configuration`, installed by the package, and part of
/// Docs/Configuration.md.
enum ConfigurationReference {
    struct Line: Sendable {
        var key: String
        var value: String
        var otherWays: [String] = []
        var explanation = ""
    }

    struct Block: Sendable {
        /// Heading of the table, such as `[cloud]`; empty for the keys before all tables.
        var heading: String
        var explanation: String
        var lines: [Line]
    }

    static let blocks =
        [
            ConfigurationKeys.general.block, ConfigurationKeys.cloud.block, ConfigurationKeys.relay.block,
            ConfigurationKeys.sync.block, ConfigurationKeys.bluetooth.block, ConfigurationKeys.proxy.block,
            ConfigurationKeys.discovery.block, ConfigurationKeys.web.block, ConfigurationKeys.mqtt.block,
            ConfigurationKeys.influx.block, ConfigurationKeys.notify.block, ConfigurationKeys.notifyProgram,
            ConfigurationKeys.store.block, ConfigurationKeys.backup.block, ConfigurationKeys.model,
            ConfigurationKeys.port.block, ConfigurationKeys.rawPort, ConfigurationKeys.board.block,
            ConfigurationKeys.meter.block, ConfigurationKeys.computed.block, ConfigurationKeys.smartPlug.block,
        ] + ConfigurationKeys.otherSmartPlugs

    /// - Parameter isSwitchedOff: whether to comment out each key and table.
    static func text(isSwitchedOff: Bool) -> String {
        let mark = isSwitchedOff ? "#" : ""
        var parts: [String] = isSwitchedOff ? [comment(introduction)] : []
        for block in blocks {
            let lines = block.lines.map { text(of: $0, mark: mark) }
            // Blank lines separate these parts: each key before all tables, and each table.
            parts +=
                block.heading.isEmpty
                ? lines : [comment(block.explanation) + "\(mark)\(block.heading)\n" + lines.joined()]
        }
        return parts.joined(separator: "\n")
    }

    private static let introduction =
        "meterd needs no configuration: every key is here, commented out by its \"#\", with its default or, where it has "
        + "none, with an example. Take away the \"#\" of a key, and of the [table] it is in, to set it; then: sudo "
        + "systemctl restart meterd. What \"meterctl web enable\", \"meterctl cloud join\" and \"meterctl set\" change is "
        + "not in this file."

    private static func text(of line: Line, mark: String) -> String {
        let setting = "\(mark)\(line.key) = \(line.value)"
        guard !line.otherWays.isEmpty else { return comment(line.explanation) + setting + "\n" }
        let gap = String(repeating: " ", count: max(2, otherWaysColumn - setting.count + mark.count))
        return comment(line.explanation) + setting + gap + "# " + line.otherWays.joined(separator: ", ") + "\n"
    }

    private static let otherWaysColumn = 44
    private static let lineLength = 120

    private static func comment(_ text: String) -> String {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= lineLength {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append("# \(word)")
            }
        }
        return lines.map { "\($0)\n" }.joined()
    }
}
