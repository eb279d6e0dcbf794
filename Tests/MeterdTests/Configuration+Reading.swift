@testable import meterd

extension Configuration {
    /// As a person's meterd reads this file, with nothing in its environment.
    init(reading text: String) throws {
        self.init(environment: [:], userID: 0)
        try ConfigurationFile(text: text, path: "meterd.toml").apply(to: &self)
    }
}
