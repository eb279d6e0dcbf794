import ArgumentParser
import Domain
import FoundationEssentials

/// JSON for programs: sorted keys, one object per line in streams, indented elsewhere. Escaped control characters make
/// it safe on a terminal.
package enum JSONOutput {
    package static func pretty(_ value: some Encodable) throws -> String {
        try text(value, [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
    }

    package static func line(_ value: some Encodable) throws -> String {
        try text(value, [.sortedKeys, .withoutEscapingSlashes])
    }

    private static func text(_ value: some Encodable, _ formatting: JSONEncoder.OutputFormatting) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = formatting
        return JSONText.escapingControls(String(decoding: try encoder.encode(value), as: UTF8.self))
    }
}

package struct JSONOption: ParsableArguments {
    @Flag(name: .customLong("json"), help: "Print JSON.")
    package var isOn = false

    package init() {}

    /// Prints a value if `--json` is set, and returns whether it is set.
    package func print(_ value: some Encodable) throws -> Bool {
        if isOn { Terminal.exact(try JSONOutput.pretty(value)) }
        return isOn
    }
}
