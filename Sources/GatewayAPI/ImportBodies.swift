/// `POST /v1/meters/{meter}/imports`: what a file became.
package struct ImportBody: Codable, Hashable, Sendable {
    package var recording: RecordingBody
    /// What the file turned out to be: `csv`, `json`, `rd-usb`, `fnirsi-logger`, `fnirsi-cfn` or `table`.
    package var format: String
    /// Lines of the file, its first one and empty ones included.
    package var lines: Int
    /// Columns of the file of which nothing was taken, because no quantity stands for them.
    package var columns_left_out: [String]
    /// Lines that were not taken, because the meter cannot have measured what they say.
    package var lines_left_out: Int
    /// Single impossible samples of a FNIRSI meter that were left out or replaced by a neighbour.
    package var filtered_samples: Int
    /// What was changed, left out or assumed, a sentence each.
    package var remarks: [String]

    package init(
        recording: RecordingBody, format: String, lines: Int, columns_left_out: [String], lines_left_out: Int,
        filtered_samples: Int, remarks: [String]
    ) {
        self.recording = recording
        self.format = format
        self.lines = lines
        self.columns_left_out = columns_left_out
        self.lines_left_out = lines_left_out
        self.filtered_samples = filtered_samples
        self.remarks = remarks
    }
}
