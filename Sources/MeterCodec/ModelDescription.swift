package import Domain

/// A family whose models people describe themselves, beside those that it knows: in the configuration, for example. What can
/// be described, and by which keys, is the family's own business; what carries a description to it knows values alone.
package protocol DescribableFamily: FamilyDescription {
    /// What a description may hold, in the order in which people read it, each with a value that is legal beside the others'.
    var descriptionKeys: [DescriptionKey] { get }
    /// The family with one more model.
    ///
    /// - Parameter model: one of this family that no other is called.
    /// - Throws: for the first value that means nothing to it.
    func adding(_ model: ModelName, described: [String: DescriptionValue]) throws(DescriptionError) -> Self
}

extension DescribableFamily {
    package var describable: (any DescribableFamily)? { self }
}

/// A key of a description, as its reference has it.
package struct DescriptionKey: Hashable, Sendable {
    package var name: String
    /// In TOML: the default, or an example if there is none.
    package var example: String
    package var explanation: String

    package init(_ name: String, _ example: String, _ explanation: String) {
        self.name = name
        self.example = example
        self.explanation = explanation
    }
}

/// A value that a person wrote, whatever the file's syntax.
package indirect enum DescriptionValue: Hashable, Sendable {
    case text(String)
    case integer(Int)
    case number(Double)
    case flag(Bool)
    case list([DescriptionValue])
    case table([String: DescriptionValue])
    /// Something that no key takes, such as a date, as it was written.
    case other(String)

    /// The value as an error repeats it.
    package var shown: String {
        switch self {
        case .text(let text): "\"\(text.visible)\""
        case .integer(let number): "\(number)"
        case .number(let number): "\(number)"
        case .flag(let flag): "\(flag)"
        case .list: "a list"
        case .table: "a table"
        case .other(let text): text.visible
        }
    }
}

/// A value in a description that means nothing, or one that is missing.
package struct DescriptionError: Error, Hashable, Sendable {
    /// The key, with those around it: `fields.V.factor`. Empty for the description as a whole.
    package var key: String
    /// What is wrong, with the value: `cannot be "x"`.
    package var problem: String
    /// What to do about it.
    package var remedy: String

    package init(_ key: String, _ problem: String, remedy: String) {
        self.key = key
        self.problem = problem
        self.remedy = remedy
    }
}

extension MeterCatalogue {
    /// What can be said of a model that a person describes; empty where no family takes descriptions.
    package var descriptionKeys: [DescriptionKey] { describable?.descriptionKeys ?? [] }

    /// This catalogue, with one more model.
    ///
    /// - Parameter name: what people type: 1 to 32 lower-case letters, digits and hyphens, and no other model's.
    package func adding(
        model name: String, described values: [String: DescriptionValue]
    ) throws(DescriptionError) -> MeterCatalogue {
        guard let describable else {
            throw DescriptionError("", "describes a model, and no family takes descriptions", remedy: "take it away")
        }
        guard (1...32).contains(name.utf8.count), name.utf8.allSatisfy(\.isOfModelName) else {
            throw DescriptionError(
                "", "cannot be called \(name.quoted)",
                remedy: "a model has 1 to 32 lower-case letters, digits and \"-\"")
        }
        guard model(named: name) == nil else {
            throw DescriptionError(
                "", "has the name of a model that is known without it", remedy: "call it something else")
        }
        let model = ModelName(name, of: describable.family)
        let grown = try describable.adding(model, described: values)
        return MeterCatalogue(
            families: families.map { $0.family == grown.family ? grown : $0 },
            descriptions: descriptions.merging([name: values]) { $1 })
    }

    private var describable: (any DescribableFamily)? {
        families.lazy.compactMap(\.describable).first
    }
}

/// Two catalogues are equal if they know the same models, and what people described is described alike.
extension MeterCatalogue: Hashable {
    package static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.models == rhs.models && lhs.descriptions == rhs.descriptions
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(models)
        hasher.combine(descriptions)
    }
}

extension UInt8 {
    fileprivate var isOfModelName: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
        default: false
        }
    }
}
