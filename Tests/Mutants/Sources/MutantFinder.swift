import SwiftOperators
import SwiftParser
import SwiftSyntax

/// Finds every place of a source file where a mutant can be.
final class MutantFinder: SyntaxVisitor {
    private let target: String
    private let file: String
    private let bytes: [UInt8]
    private let lines: [Substring]
    private let converter: SourceLocationConverter
    private(set) var found: [Mutant] = []

    /// - Parameters:
    ///   - target: the target that the file belongs to.
    ///   - file: its path from the package's folder.
    init(target: String, file: String, source: String) {
        self.target = target
        self.file = file
        bytes = Array(source.utf8)
        lines = source.split(separator: "\n", omittingEmptySubsequences: false)
        let tree = OperatorTable.standardOperators.foldAll(Parser.parse(source: source)) { _ in }
        converter = SourceLocationConverter(fileName: file, tree: tree)
        super.init(viewMode: .sourceAccurate)
        walk(tree)
    }

    // MARK: Where nothing is changed

    override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: ExpressionPatternSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: EnumCaseElementSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: MacroExpansionExprSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: StringLiteralExprSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: GenericWhereClauseSyntax) -> SyntaxVisitorContinueKind { .skipChildren }

    // MARK: Expressions

    override func visit(_ node: InfixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        guard let sign = node.operator.as(BinaryOperatorExprSyntax.self)?.operator else { return .visitChildren }
        let left = text(node.leftOperand)
        let right = text(node.rightOperand)
        let swapped: (kind: Mutant.Kind, sign: String)? =
            switch sign.text {
            case "<": (.comparison, "<=")
            case "<=": (.comparison, "<")
            case ">": (.comparison, ">=")
            case ">=": (.comparison, ">")
            case "==": (.comparison, "!=")
            case "!=": (.comparison, "==")
            case "&&": (.connective, "||")
            case "||": (.connective, "&&")
            case "+" where isNumeric(node): (.arithmetic, "-")
            case "-": (.arithmetic, "+")
            default: nil
            }
        guard let swapped else { return .visitChildren }
        let was = text(node)
        let becomes = "\(left) \(swapped.sign) \(right)"
        choose(swapped.kind, node, becomes, else: was, change: "\(sign.text) → \(swapped.sign)")
        if swapped.kind == .connective {
            choose(.half, node, left, else: was, change: "without \(sign.text) \(short(right))")
        }
        return .visitChildren
    }

    private func isNumeric(_ node: InfixOperatorExprSyntax) -> Bool {
        ![node.leftOperand, node.rightOperand].contains {
            $0.is(StringLiteralExprSyntax.self) || $0.is(ArrayExprSyntax.self)
        }
    }

    override func visit(_ node: IntegerLiteralExprSyntax) -> SyntaxVisitorContinueKind {
        let was = node.literal.text
        // The greatest of a type has no next one.
        let next = (Int(was.replacing("_", with: "")) ?? .max) < 127 ? "+" : "-"
        choose(.number, node, "\(was) \(next) 1", else: was, change: "\(was) → \(was) \(next) 1")
        return .skipChildren
    }

    override func visit(_ node: BooleanLiteralExprSyntax) -> SyntaxVisitorContinueKind {
        let isTrue = node.literal.text == "true"
        add(.boolean, node, "(\(isTrue ? "!" : "")", ")", change: isTrue ? "true → false" : "false → true")
        return .skipChildren
    }

    override func visit(_ node: PrefixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        guard node.operator.text == "!" else { return .visitChildren }
        add(.negation, node, "(", " != (\(text(node))))", change: "without !")
        return .visitChildren
    }

    override func visit(_ node: TernaryExprSyntax) -> SyntaxVisitorContinueKind {
        add(
            .choice, node.condition, "!", " && (\(text(node.condition)))",
            change: "always \(short(text(node.elseExpression)))")
        return .visitChildren
    }

    override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
        guard let name = node.calledExpression.as(DeclReferenceExprSyntax.self)?.baseName.text else {
            return isLog(node) ? .skipChildren : .visitChildren
        }
        if ["precondition", "assert", "fatalError"].contains(name) { return .skipChildren }
        if let other = ["min": "max", "max": "min"][name] {
            let was = text(node)
            choose(.extreme, node, other + was.dropFirst(name.count), else: was, change: "\(name) → \(other)")
        }
        return .visitChildren
    }

    // MARK: Conditions

    override func visit(_ node: GuardStmtSyntax) -> SyntaxVisitorContinueKind {
        for condition in node.conditions {
            guard case .expression(let tested) = condition.condition else { continue }
            add(.guard, tested, "(", " || (\(text(tested))))", change: "never leaves because of \(short(text(tested)))")
        }
        return .visitChildren
    }

    override func visit(_ node: IfExprSyntax) -> SyntaxVisitorContinueKind {
        for condition in node.conditions {
            guard case .expression(let tested) = condition.condition else { continue }
            add(.if, tested, "(!", " && (\(text(tested))))", change: "as if not \(short(text(tested)))")
        }
        return .visitChildren
    }

    override func visit(_ node: SwitchCaseSyntax) -> SyntaxVisitorContinueKind {
        guard let cases = node.parent?.as(SwitchCaseListSyntax.self), cases.contains(where: isDefault),
            let label = node.label.as(SwitchCaseLabelSyntax.self)
        else { return .visitChildren }
        for item in label.caseItems {
            let pattern = text(item.pattern)
            if let clause = item.whereClause {
                add(
                    .branch, clause.condition, "!", " && (\(text(clause.condition)))",
                    change: "without case \(short(pattern))")
            } else {
                add(.branch, item.pattern, "\(pattern) where !", "", change: "without case \(short(pattern))")
            }
        }
        return .visitChildren
    }

    private func isDefault(_ item: SwitchCaseListSyntax.Element) -> Bool {
        item.as(SwitchCaseSyntax.self)?.label.is(SwitchDefaultLabelSyntax.self) == true
    }

    // MARK: Statements

    override func visit(_ node: CodeBlockItemSyntax) -> SyntaxVisitorContinueKind {
        switch node.item {
        case .expr(let expression): visitStatement(expression, node)
        case .stmt(let statement):
            let isExit =
                statement.is(ContinueStmtSyntax.self) || statement.is(BreakStmtSyntax.self)
                || statement.as(ReturnStmtSyntax.self).map { $0.expression == nil } == true
            if isExit, !isGuarded(node), !isCase(node), !isLastOfLoop(node) { forget(.exit, node) }
        default: break
        }
        return .visitChildren
    }

    private func visitStatement(_ expression: ExprSyntax, _ node: CodeBlockItemSyntax) {
        guard !isValue(node), !isInitializer(node) else { return }
        let core = bare(expression)
        if let call = core.as(FunctionCallExprSyntax.self) {
            // What a hash leaves out nobody sees.
            if !isLog(call), !isEnd(call), call.calledExpression.trimmedDescription != "hasher.combine" {
                forget(.statement, node)
            }
        } else if let infix = core.as(InfixOperatorExprSyntax.self) {
            let sign = infix.operator.trimmedDescription
            guard sign.hasSuffix("="), !["==", "!=", "<=", ">="].contains(sign) else { return }
            forget(.statement, node)
            guard let other = ["+=": "-=", "-=": "+="][sign] else { return }
            let becomes = "\(text(infix.leftOperand)) \(other) \(text(infix.rightOperand))"
            let was = text(node)
            add(.arithmetic, node, "if ", " { \(becomes) } else { \(was) }", change: "\(sign) → \(other)")
        }
    }

    /// Without `try` and `await`.
    private func bare(_ expression: ExprSyntax) -> ExprSyntax {
        if let attempt = expression.as(TryExprSyntax.self) { return bare(attempt.expression) }
        if let wait = expression.as(AwaitExprSyntax.self) { return bare(wait.expression) }
        return expression
    }

    private func isLog(_ call: FunctionCallExprSyntax) -> Bool {
        let name = call.calledExpression.trimmedDescription
        return name.hasPrefix("logger.") || name.contains(".logger.")
    }

    private func isEnd(_ call: FunctionCallExprSyntax) -> Bool {
        ["precondition", "assert", "fatalError"].contains(call.calledExpression.trimmedDescription)
    }

    /// What must leave its block cannot be left out.
    private func isGuarded(_ node: CodeBlockItemSyntax) -> Bool {
        node.parent?.parent?.parent?.is(GuardStmtSyntax.self) == true
    }

    /// A case that only leaves the switch, or the function that ends with it, does nothing anyway.
    private func isCase(_ node: CodeBlockItemSyntax) -> Bool {
        !node.item.is(ContinueStmtSyntax.self) && node.parent?.as(CodeBlockItemListSyntax.self)?.count == 1
            && node.parent?.parent?.is(SwitchCaseSyntax.self) == true
    }

    /// What would go on with the loop does so at its end anyway.
    private func isLastOfLoop(_ node: CodeBlockItemSyntax) -> Bool {
        guard node.item.is(ContinueStmtSyntax.self) else { return false }
        var item = node
        while let list = item.parent?.as(CodeBlockItemListSyntax.self), list.last?.id == item.id {
            var above = list.parent
            while let here = above, !here.is(CodeBlockItemSyntax.self) {
                if here.is(WhileStmtSyntax.self) || here.is(ForStmtSyntax.self) || here.is(RepeatStmtSyntax.self) {
                    return true
                }
                above = here.parent
            }
            guard let next = above?.as(CodeBlockItemSyntax.self) else { return false }
            item = next
        }
        return false
    }

    /// In an initialiser a property would be left without a value.
    private func isInitializer(_ node: CodeBlockItemSyntax) -> Bool {
        var above = node.parent
        while let here = above {
            if here.is(InitializerDeclSyntax.self) { return true }
            if here.is(FunctionDeclSyntax.self) || here.is(ClosureExprSyntax.self) { return false }
            above = here.parent
        }
        return false
    }

    /// Whether the only item of its block is the block's value.
    private func isValue(_ node: CodeBlockItemSyntax) -> Bool {
        guard let list = node.parent?.as(CodeBlockItemListSyntax.self), list.count == 1 else { return false }
        guard let block = list.parent else { return false }
        if block.is(ClosureExprSyntax.self) || block.is(AccessorBlockSyntax.self) { return true }
        let owner = block.is(SwitchCaseSyntax.self) ? block.parent?.parent : block.parent
        guard let owner else { return false }
        if let function = owner.as(FunctionDeclSyntax.self) { return function.signature.returnClause != nil }
        if let accessor = owner.as(AccessorDeclSyntax.self) { return accessor.accessorSpecifier.text == "get" }
        guard owner.is(IfExprSyntax.self) || owner.is(SwitchExprSyntax.self) else { return false }
        var expression = owner
        // An `else if` belongs to the `if` before it.
        while let before = expression.parent, before.is(IfExprSyntax.self) { expression = before }
        guard let statement = expression.parent?.as(ExpressionStmtSyntax.self),
            let item = statement.parent?.as(CodeBlockItemSyntax.self)
        else { return expression.parent?.is(CodeBlockItemSyntax.self) != true }
        return isValue(item)
    }

    // MARK: Writing them

    private func forget(_ kind: Mutant.Kind, _ node: CodeBlockItemSyntax) {
        let was = text(node)
        add(kind, node, "if !", " { \(was) }", change: "without \(short(was))")
    }

    private func choose(
        _ kind: Mutant.Kind, _ node: some SyntaxProtocol, _ becomes: String, else was: String, change: String
    ) {
        add(kind, node, "(", " ? (\(becomes)) : (\(was)))", change: change)
    }

    private func add(
        _ kind: Mutant.Kind, _ node: some SyntaxProtocol, _ head: String, _ tail: String, change: String
    ) {
        let start = node.positionAfterSkippingLeadingTrivia
        let range = start.utf8Offset..<node.endPositionBeforeTrailingTrivia.utf8Offset
        let line = converter.location(for: start).line
        let text = lines.indices.contains(line - 1) ? lines[line - 1].trimmingPrefix { $0 == " " } : ""
        found.append(
            Mutant(
                target: target, file: file, line: line, text: String(text), kind: kind, change: change, range: range,
                head: head, tail: tail))
    }

    private func text(_ node: some SyntaxProtocol) -> String {
        let start = node.positionAfterSkippingLeadingTrivia.utf8Offset
        let end = node.endPositionBeforeTrailingTrivia.utf8Offset
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }

    /// On one line, and not long.
    private func short(_ text: String) -> String {
        let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return words.count > 60 ? "\(words.prefix(59))…" : words
    }
}
