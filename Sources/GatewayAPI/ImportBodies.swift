/// Answer to `POST /v1/meters/{meter}/imports`.
package struct ImportBody: Codable, Hashable, Sendable {
    package var recording: RecordingBody
    /// Detected format: `csv`, `json`, `rd-usb`, `fnirsi-logger`, `fnirsi-cfn` or `table`.
    package var format: String
    /// Lines of the file, including headings and empty lines.
    package var lines: Int
    /// Columns that match no quantity.
    package var columns_left_out: [String]
    /// Lines with values that the meter cannot have measured.
    package var lines_left_out: Int
    /// Impossible samples of a FNIRSI meter, dropped or replaced by a neighbour.
    package var filtered_samples: Int
    /// Changes, omissions and assumptions, one sentence each.
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
