import Domain
import GatewayAPI
import Glibc
import LinuxIO
import ProgramKit

struct MarkStream {
    private let client: ControlClient
    private let path: String
    private let expression: ExtendedExpression
    private let place: MarkPlace
    private let json: JSONOption

    init(
        _ client: ControlClient, _ meter: String, _ pattern: String, _ place: MarkPlace, _ json: JSONOption
    ) throws {
        self.client = client
        path = try meterPath(meter, "/marks")
        self.place = place
        self.json = json
        do throws(ExtendedExpression.Problem) {
            expression = try ExtendedExpression(pattern)
        } catch {
            throw CommandFailure(
                .usage, "\"\(pattern)\" is not an expression for --match: \(error.message)",
                next: "give one such as 'state=([a-z]+)'")
        }
    }

    func run() async throws {
        // Fail for a wrong meter or a stopped meterd before the program that writes the input starts its work.
        let _: MarksBody = try await client.call(.get, path)
        // Ignore Ctrl-C: it ends the program that writes the input, and so the input itself.
        if isatty(0) == 0 { signal(SIGINT, SIG_IGN) }
        var lines = MarkLines()
        var refused = 0
        var failure: CommandFailure?
        for await line in StandardInput.lines() {
            guard let name = lines.take(expression.firstGroup(in: line), at: LinuxClock.now) else { continue }
            do {
                let mark: MarkBody = try await client.call(
                    .post, path, body: MarkRequest(name: name, local: place.local))
                if try !json.print(mark) { Terminal.line("\(mark.id) \(mark.name)") }
            } catch let error as CommandFailure {
                // Continue reading, because the program that writes the input needs a reader.
                refused += 1
                failure = failure ?? error
            }
        }
        Terminal.talk(Self.summary(lines, refused: refused))
        if let failure { throw failure }
    }

    static func summary(_ lines: MarkLines, refused: Int) -> String {
        let rest = [
            (lines.unmatched, "did not match"), (lines.tooFast, "came faster than \(MarkLines.rateMax) a second"),
            (lines.tooMany, "came after \(MarkLines.countMax) marks"), (refused, "could not be marked"),
        ].filter { $0.0 > 0 }.map { "\(Formatting.count($0.0)) \($0.1)" }
        let marks = "\(Formatting.count(lines.marked - refused)) marks set"
        return rest.isEmpty ? marks : "\(marks); of the other lines \(rest.joined(separator: ", "))"
    }
}
