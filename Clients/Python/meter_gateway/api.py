"""Types of meterd's HTTP interface.

Written by tools/generate_types.py from Docs/meterd-openapi.yaml: do not edit.
"""

from typing import Literal, NotRequired, TypedDict


class ErrorBody(TypedDict):
    """Body of every answer with a status of 400 or above."""

    code: Literal["bad-request", "no-such-meter", "ambiguous-meter", "model-unknown", "not-connected", "refused", "timed-out", "held", "permission", "not-authenticated", "too-many-requests", "store", "shutting-down", "not-found", "internal"]
    message: str
    next: str


class VersionBody(TypedDict):
    """Which program this is."""

    version: str
    commit: str
    build: str


class ReadingBody(TypedDict):
    """One key per quantity, unit last. A quantity that the model lacks is absent; an unknown value is null."""

    voltage_V: NotRequired[float | None]
    current_A: NotRequired[float | None]
    power_W: NotRequired[float | None]
    energy_Wh: NotRequired[float | None]
    charge_mAh: NotRequired[float | None]
    temperature_C: NotRequired[float | None]
    dp_V: NotRequired[float | None]
    dn_V: NotRequired[float | None]
    resistance_ohm: NotRequired[float | None]
    cc1_V: NotRequired[float | None]
    cc2_V: NotRequired[float | None]
    frequency_Hz: NotRequired[float | None]
    power_factor: NotRequired[float | None]
    vdd_V: NotRequired[float | None]
    price: NotRequired[float | None]
    duration_s: NotRequired[float | None]
    counted_energy_Wh: NotRequired[float | None]
    counted_charge_mAh: NotRequired[float | None]
    ratio: NotRequired[float | None]


class ToldGroup(TypedDict):
    """One of the groups in which a model counts energy and charge."""

    index: int
    charge_mAh: float
    energy_Wh: float


class TelemetryBody(TypedDict):
    """What a meter reports besides readings. It is in the status, and in a line of readings where it changed. Docs/Meters lists the keys of each model."""

    details: dict[str, float | str | bool | None]
    groups: list[ToldGroup]


class ReadingLine(TypedDict):
    """One line of a stream of readings."""

    time: str
    voltage_V: NotRequired[float | None]
    current_A: NotRequired[float | None]
    power_W: NotRequired[float | None]
    energy_Wh: NotRequired[float | None]
    charge_mAh: NotRequired[float | None]
    temperature_C: NotRequired[float | None]
    dp_V: NotRequired[float | None]
    dn_V: NotRequired[float | None]
    resistance_ohm: NotRequired[float | None]
    cc1_V: NotRequired[float | None]
    cc2_V: NotRequired[float | None]
    frequency_Hz: NotRequired[float | None]
    power_factor: NotRequired[float | None]
    vdd_V: NotRequired[float | None]
    price: NotRequired[float | None]
    duration_s: NotRequired[float | None]
    counted_energy_Wh: NotRequired[float | None]
    counted_charge_mAh: NotRequired[float | None]
    ratio: NotRequired[float | None]
    told: NotRequired[TelemetryBody]
    missed: NotRequired[int]
    measured_by: NotRequired[str]
    count: NotRequired[int]
    least: NotRequired[ReadingBody]
    greatest: NotRequired[ReadingBody]


class TrafficLine(TypedDict):
    """One message as it crossed the link."""

    t: float
    dir: Literal["in", "out"]
    hex: str
    missed: NotRequired[int]


class SyncEventLine(TypedDict):
    """One event of the engine."""

    number: int
    uptime_ms: int
    time: NotRequired[str]
    event: str
    missed: NotRequired[int]


class RefreshLine(TypedDict):
    """A change of the settings that are shown."""

    refresh_version: int


class DeviceBody(TypedDict):
    """What a meter reports about itself."""

    serial: str | None
    firmware: str | None
    hardware: str | None
    power_on_count: int | None


class LeaseStatus(TypedDict):
    """A meter's lease as this host sees it."""

    state: Literal["none", "requesting", "held", "jeopardy", "lost", "unleased", "elsewhere", "waiting", "expired"]
    holder: str | None
    holder_id: str | None
    token: int | None
    transport: str | None
    policy: str | None
    remaining_ms: int | None
    since: str | None
    read_only: bool | None
    waiting: list[str]


class MeterCounters(TypedDict):
    """Counts since the daemon started. If the meter cannot have measured some samples, which were left out or replaced by a neighbour, a further field filtered_samples has their number. lost_samples has the number of samples that a meter took by its own clock and that did not arrive."""

    readings: int
    skipped_bytes: int
    resynchronisations: int
    timeouts: int
    connects: int
    disconnects: int
    rejected: int


class SpreadBody(TypedDict):
    """Least and greatest readings of the last 0.5 to 1 s, for a meter that samples too fast to show each. Absent for others."""

    count: int
    least: ReadingBody
    greatest: ReadingBody


class SamplingBody(TypedDict):
    """How a meter samples by its own clock. Absent unless its setting rate asks for that."""

    wanted: int
    rate: int | None
    error: str | None


class TariffBody(TypedDict):
    """What a kilowatt-hour through a meter costs, as its setting `tariff` says."""

    per_kWh: float
    currency: str


class CountedBody(TypedDict):
    """Energy and charge that meterd counted for a meter: the totals that programs get. Absent before its first reading, and for another host's meter."""

    by: Literal["meterd"]
    energy_Wh: float | None
    charge_mAh: float | None
    since: str
    counted_ms: int


class MeterStatus(TypedDict):
    """One meter."""

    id: str
    model: str | None
    name: str | None
    state: Literal["offline", "not-connected", "connecting", "connected", "ready", "communicating", "data-available"]
    since: str
    local_only: bool
    wanted: bool
    transport: str | None
    port: str | None
    transports: list[str]
    rssi: int | None
    reading: ReadingBody | None
    spread: NotRequired[SpreadBody]
    sampling: NotRequired[SamplingBody]
    age_ms: int | None
    measured_by: NotRequired[str]
    holder_state: NotRequired[str]
    unshared: NotRequired[bool]
    tariff: NotRequired[TariffBody]
    counted: NotRequired[CountedBody]
    hears_pd: NotRequired[bool]
    told: NotRequired[TelemetryBody]
    rejected_answers: NotRequired[int]
    device: DeviceBody | None
    poll_interval_ms: int | None
    retry_in_ms: int | None
    searching_ms: int | None
    lease: LeaseStatus | None
    error: str | None
    counters: MeterCounters


class CostBody(TypedDict):
    """What energy costs at its meter's present tariff. Absent without one."""

    amount: float
    currency: str
    per_kWh: float


class PairingStatus(TypedDict):
    """How meters that ask for a PIN fare over an adapter."""

    bondable: bool | None
    agent: Literal["unavailable", "alone", "ready", "standing", "refused"] | None
    error: str | None


class ProxyStatus(TypedDict):
    """What an adapter that is a Bluetooth proxy elsewhere says of itself."""

    name: str | None
    version: str | None
    encrypted: bool


class AdapterStatus(TypedDict):
    """One Bluetooth adapter of this host."""

    address: str
    name: str | None
    state: Literal["searching", "idle", "starting", "recovering", "blocked", "failed", "forbidden", "gone"]
    since: str
    links: int
    links_max: int
    heard: int
    dropped: int
    recoveries: int
    discovery: Literal["own", "another"] | None
    discovery_ms: int
    pairing: PairingStatus | None
    proxy: ProxyStatus | None
    error: str | None


SupportTransition = TypedDict(
    "SupportTransition",
    {
        "age_ms": int,
        "from": str,
        "to": str,
        "cause": str,
    },
)
"""A change of state."""


class SupportCharacteristic(TypedDict):
    """A value that a service offers."""

    uuid: str
    handle: int
    properties: list[str]
    cccd: bool | None


class SupportService(TypedDict):
    """A service that a Bluetooth LE meter offers."""

    service: str
    handle: int
    characteristics: list[SupportCharacteristic]


class SupportTraffic(TypedDict):
    """Bytes that crossed a link in one piece."""

    age_ms: int
    dir: Literal["in", "out"]
    hex: str
    bytes: int


class SupportMeter(TypedDict):
    """What happened to one meter lately."""

    id: str
    model: str | None
    state: str
    transport: str | None
    transitions: list[SupportTransition]
    gatt: list[SupportService] | None
    traffic: list[SupportTraffic]


class SupportAdapter(TypedDict):
    """What an adapter says of itself."""

    address: str
    name: str
    manufacturer: int
    hci_version: int
    supported_settings: str
    current_settings: str
    reset: str | None


class SupportAdvertisement(TypedDict):
    """What a device announces."""

    address: str
    address_type: Literal["public", "random", "classic"]
    name: str | None
    rssi: int | None
    data: list[str]


class SupportTrace(TypedDict):
    """A command to the kernel, or what it told."""

    age_ms: int
    adapter: str | None
    dir: Literal["in", "out"]
    words: str


class SupportRadios(TypedDict):
    """This host's radios."""

    adapters: list[SupportAdapter]
    advertisements: list[SupportAdvertisement]
    strangers: int
    management: list[SupportTrace]


class SupportBody(TypedDict):
    """What a maintainer asks for."""

    meters: list[SupportMeter]
    radios: SupportRadios | None


class BackupStatus(TypedDict):
    """How the store's backups are doing."""

    directory: str
    written: str | None
    age_ms: int | None
    error: str | None


class StoreStatus(TypedDict):
    """How the store is doing."""

    path: str
    unsaved: int
    saved: int
    dropped: int
    error: str | None
    crowding: str | None
    backup: BackupStatus | None


class GatewayStatus(TypedDict):
    """Everything about meters, adapters and the store."""

    meters: list[MeterStatus]
    adapters: list[AdapterStatus]
    store: StoreStatus
    alerts_raised: NotRequired[int]


class ScanEntry(TypedDict):
    """A meter that is reachable now, wanted or not."""

    id: str
    model: str | None
    name: str | None
    transport: str
    port: str
    transports: list[str]
    rssi: int | None
    adapter: str | None
    state: Literal["offline", "not-connected", "connecting", "connected", "ready", "communicating", "data-available"]
    holder: str | None
    flags: list[Literal["group-bit", "locally-administered"]]


class ScanOther(TypedDict):
    """A device heard in the last minute that is not a meter of the scan."""

    address: str
    transport: Literal["ble", "spp"]
    adapter: str
    name: str | None
    rssi: int | None
    looks_like_meter: bool
    reason: str


class ScanNode(TypedDict):
    """What an ESPHome node announces, or a stranger who pretends to be one."""

    name: str
    friendly_name: str | None
    host: str
    port: int
    version: str | None
    mac: str | None
    encrypted: bool
    looks_like_proxy: bool
    configured: bool


class ScanNodes(TypedDict):
    """ESPHome nodes that announce themselves. meterd connects to none that [[bluetooth.proxy]] does not name."""

    browses: bool
    nodes: list[ScanNode]
    more: bool
    error: str | None
    next: str | None


class ConnectRequest(TypedDict):
    """How to connect. Null and absent are the same."""

    wait_ms: NotRequired[int | None]
    model: NotRequired[str | None]
    id: NotRequired[str | None]
    takeover: NotRequired[bool | None]
    queue_ms: NotRequired[int | None]
    timeout_ms: NotRequired[int | None]
    no_lease: NotRequired[bool | None]
    over: NotRequired[str | None]
    yes: NotRequired[bool | None]


class CommandRequest(TypedDict):
    """A command for the meter."""

    command: Literal["next-screen", "previous-screen", "rotate", "brightness", "screen-timeout", "select-group", "next-group", "clear-group", "record-threshold", "clear-energy", "clear-charge", "clear-time", "clear-all", "setup", "enter", "plus", "minus", "price", "load-on", "load-off", "load-current", "load-cutoff", "load-timer", "source-voltage", "source-off", "reset-energy"]
    number: NotRequired[int | None]


class CommandBody(TypedDict):
    """A command that a meter takes."""

    command: str
    least: int | None
    greatest: int | None
    step: int | None
    consequence: Literal["destroys", "switches", "draws", "supplies"] | None
    setting: str | None
    confirmed: bool


class CommandsBody(TypedDict):
    """The commands that a meter takes."""

    meter: str
    model: str | None
    commands: list[CommandBody]


class SettingsRequest(TypedDict):
    """The settings to change; null resets one to its default."""

    settings: dict[str, str | None]


class SettingBody(TypedDict):
    """A setting of a meter, set or not."""

    key: str
    value: str | None
    default: str | None
    origin: Literal["default", "here", "elsewhere"]
    at: str | None
    host: str | None
    host_id: str | None
    legal: str | None
    values: list[str] | None
    command: str | None


class SettingsBody(TypedDict):
    """A meter's settings. The answer to a change has only the changed ones."""

    settings: dict[str, str | None]
    known: NotRequired[list[str] | None]
    details: NotRequired[list[SettingBody] | None]
    once: NotRequired[dict[str, str] | None]
    stays_here: NotRequired[bool | None]


class AliasRequest(TypedDict):
    """The meter that the id is to mean."""

    meter: str


class MeterAliasBody(TypedDict):
    """Another id of a meter."""

    alias: str
    meter: str


class MeterAliases(TypedDict):
    """Other ids of meters, on all hosts of the zone."""

    aliases: list[MeterAliasBody]


class ForgottenMeter(TypedDict):
    """What was deleted."""

    id: str
    name: str | None
    settings: bool
    aliases: list[str]
    readings: int | None
    is_here: bool


class MeterLogBody(TypedDict):
    """One log that a meter recorded by itself."""

    name: str | None
    samples: int
    interval_ms: int
    duration_s: int
    charge_mAh: float
    energy_Wh: float


class MeterLogSampleLine(TypedDict):
    """One sample of a log."""

    t: float
    values: ReadingBody


class Author(TypedDict):
    """Who wrote a value, and when by their own calendar."""

    at: str
    host: str | None
    host_id: str | None
    brought_by: str | None
    brought_by_id: str | None


class HistoryLine(TypedDict):
    """An overwritten value of a setting."""

    key: str
    old: str | None
    new: str | None
    deleted: bool
    written: Author
    overwritten: Author


class HistoryBody(TypedDict):
    """The newest change first."""

    meter: str
    history: list[HistoryLine]


class LogLineBody(TypedDict):
    """An event of a meter, once or repeated. A log that a meter recorded by itself is a MeterLogBody."""

    kind: str
    at: str
    until: str | None
    age_ms: int
    count: int
    host: str | None
    host_id: str | None
    mine: bool
    host_time: str
    what: str
    detail: str | None
    by: str | None
    by_id: str | None
    adapter: str | None
    token: int | None
    last_token: int | None


class LogBody(TypedDict):
    """LogBody."""

    meter: str
    log: list[LogLineBody]
    cut: bool
    others: Literal["unasked", "none", "asked", "unreachable"]
    silent: list[str]
    unshared: list[str]
    error: str | None


class SeriesColumn(TypedDict):
    """The least, the greatest and the mean value of each point; null in a gap."""

    min: list[float | None]
    max: list[float | None]
    mean: list[float | None]


class SeriesBody(TypedDict):
    """Readings over time, ready to be drawn. All lists have one length; empty points are left out, and so is a quantity without any value."""

    meter: str
    start: str
    width_ms: int
    tier: Literal["raw", "1 min", "1 h"]
    gap_ms: int
    t_ms: list[int]
    series: dict[str, SeriesColumn]


class PDLine(TypedDict):
    """What a meter measured at the plug."""

    time: NotRequired[str]
    voltage_V: float
    current_A: float
    cc1_V: float
    cc2_V: float


class PDContract(TypedDict):
    """What source and sink agreed on."""

    text: str
    position: int
    voltage_V: float | None
    current_A: float | None
    power_W: float | None
    since: str | None


class PDObjectBody(TypedDict):
    """An offer of a source, or what a sink would like."""

    position: int
    kind: Literal["fixed", "variable", "battery", "pps", "avs", "epr-avs", "unknown"]
    text: str
    voltage_min_V: float | None
    voltage_max_V: float | None
    current_max_A: float | None
    power_max_W: float | None
    abilities: list[str]


PDMessage = TypedDict(
    "PDMessage",
    {
        "name": str,
        "sop": str,
        "from": Literal["source", "sink", "cable", "port"] | None,
        "to": Literal["source", "sink", "cable", "port"] | None,
        "id": int | None,
        "revision": int | None,
        "meaning": str | None,
        "objects": list[PDObjectBody],
        "acknowledges": bool,
        "resent": bool,
        "bytes": str,
    },
)
"""A message of USB Power Delivery."""


class PDEntryBody(TypedDict):
    """Something that happened on a CC line."""

    number: int
    time: str
    clock_ms: int
    kind: Literal["listening", "attached", "detached", "plug", "message", "voltage", "unread"]
    text: str
    line: PDLine
    more: int
    until: str | None
    message: NotRequired[PDMessage]


class PDBody(TypedDict):
    """What was heard of USB Power Delivery on a meter's CC line."""

    meter: str
    listening: bool
    attached: bool | None
    line: PDLine | None
    contract: PDContract | None
    capabilities: list[PDObjectBody]
    capabilities_at: str | None
    capabilities_current: bool
    entries: list[PDEntryBody]
    last: int
    dropped: int
    entries_max: int


class StretchSpread(TypedDict):
    """How a quantity is spread. The mean is over time, the rest of the readings."""

    min: float
    max: float
    mean: float
    p5: float
    p50: float
    p95: float


StretchBody = TypedDict(
    "StretchBody",
    {
        "meter": str,
        "from": NotRequired[str | None],
        "to": NotRequired[str | None],
        "readings": int,
        "resolution_ms": int,
        "duration_ms": int,
        "gap_ms": int,
        "gap_count": int,
        "charge_mAh": NotRequired[float | None],
        "energy_Wh": NotRequired[float | None],
        "cost": NotRequired[CostBody],
        "meter_charge_mAh": NotRequired[float | None],
        "meter_energy_Wh": NotRequired[float | None],
        "quantities": dict[str, StretchSpread],
    },
)
"""Statistics of a stretch of time. from and to are the times of its first and its last reading."""


StretchRecordingRequest = TypedDict(
    "StretchRecordingRequest",
    {
        "from": str,
        "to": str,
        "name": NotRequired[str | None],
    },
)
"""RFC 3339; from is included, to is not."""


class LoadRequest(TypedDict):
    """What a load is to do in a battery test."""

    current: str
    cutoff: str
    limit: NotRequired[str | None]
    on_link_loss: NotRequired[Literal["keep", "off"] | None]


class RecordingRequest(TypedDict):
    """The name of the recording, and what makes it a battery test."""

    name: NotRequired[str | None]
    until: NotRequired[str | None]
    start_above: NotRequired[str | None]
    notify: NotRequired[list[str] | None]
    load: NotRequired[LoadRequest | None]


class LoadBody(TypedDict):
    """The load of a battery test."""

    current_A: float
    cutoff_V: float
    limit_ms: int | None
    on_link_loss: Literal["keep", "off"]
    state: Literal["preparing", "drawing", "away", "ending", "over"]
    problem: str | None


class BatteryTestBody(TypedDict):
    """What makes a recording a battery test."""

    until: str
    start_above_A: float | None
    notify: list[str]
    armed: bool
    quantity: str | None
    value: float | None
    load: NotRequired[LoadBody]


class RecordingTextRequest(TypedDict):
    """Null or absent keeps the text; an empty text deletes it."""

    name: NotRequired[str | None]
    note: NotRequired[str | None]


class RecordingRange(TypedDict):
    """The mean is over time."""

    min: float
    max: float
    mean: float


class RecordingGap(TypedDict):
    """A time without readings."""

    start: str
    duration_ms: int
    cause: Literal["link", "silence", "host"]


class InfluxStatus(TypedDict):
    """State of the export to a time series database. Without one, everything except configured is 0, false or null."""

    configured: bool
    url: str | None
    taken: str | None
    sent: int
    rejected: int
    behind: bool
    error: str | None
    next: str | None
    rejection: str | None


class RecordingBody(TypedDict):
    """A recording. Docs/Recordings.md explains its fields."""

    id: str
    meter: str
    name: str | None
    note: str | None
    host: str | None
    host_id: str
    mine: bool
    state: Literal["waiting", "running", "ended"]
    test: NotRequired[BatteryTestBody]
    imported: str | None
    trigger: Literal["hand", "threshold"]
    end: str | None
    started: str
    until: str
    duration_ms: int
    recorded_ms: int
    readings: int
    charge_mAh: float | None
    energy_Wh: float | None
    cost: NotRequired[CostBody]
    meter_charge_mAh: float | None
    meter_energy_Wh: float | None
    voltage_V: RecordingRange | None
    current_A: RecordingRange | None
    power_W: RecordingRange | None
    temperature_C: RecordingRange | None
    gap_ms: int
    gap_count: int
    gaps: list[RecordingGap]
    marks: list[str]
    told_at_start: TelemetryBody | None
    told_at_end: TelemetryBody | None
    overlaps: list[str]


class ImportBody(TypedDict):
    """The result of an import."""

    recording: RecordingBody
    format: Literal["csv", "json", "rd-usb", "fnirsi-logger", "fnirsi-cfn", "table"]
    lines: int
    columns_left_out: list[str]
    lines_left_out: int
    filtered_samples: int
    remarks: list[str]


class RecordingsBody(TypedDict):
    """The latest first."""

    recordings: list[RecordingBody]


class MarkRequest(TypedDict):
    """A mark: a moment, unless it has an end or is open."""

    name: str
    at: NotRequired[str | None]
    end: NotRequired[str | None]
    open: NotRequired[bool | None]
    local: NotRequired[bool | None]


class MarkChange(TypedDict):
    """What is absent stays."""

    name: NotRequired[str | None]
    end: NotRequired[str | None]


MarkBody = TypedDict(
    "MarkBody",
    {
        "id": str,
        "meter": str,
        "name": str,
        "from": str,
        "to": str | None,
        "is_local": bool,
        "host": str | None,
        "host_id": str,
    },
)
"""A named moment or span on a meter's timeline."""


class MarksBody(TypedDict):
    """Ordered by their beginning, then by their ids."""

    marks: list[MarkBody]


class AlertRequest(TypedDict):
    """An alert rule: the condition, and who is notified."""

    meter: str
    condition: str
    name: NotRequired[str | None]
    notify: NotRequired[list[str] | None]


class AlertBody(TypedDict):
    """An alert rule and its state."""

    id: int
    meter: str
    meter_name: str | None
    name: str | None
    condition: str
    notify: list[str]
    state: Literal["raised", "quiet", "momentary", "broken"]
    verdict: NotRequired[str]
    raised_at: str | None
    cleared_at: str | None
    count: int
    quantity: str | None
    value: float | None


class AlertTarget(TypedDict):
    """A notification target."""

    name: str
    kind: Literal["webhook", "ntfy", "gotify", "exec"]
    waiting: int
    delivered: int
    lost: int
    error: str | None


class AlertsBody(TypedDict):
    """All rules in the order of their ids, and who can be told."""

    alerts: list[AlertBody]
    raised: int
    targets: list[AlertTarget]


class AlertTestResult(TypedDict):
    """What came of telling one of them."""

    target: str
    delivered: bool
    error: str | None


class AlertTestBody(TypedDict):
    """Result per target."""

    results: list[AlertTestResult]


class CloudStatus(TypedDict):
    """The cloud, and whether this host can reach it. Never has the token."""

    joined: bool
    urls: list[str]
    zone: str | None
    pin: str | None
    host_id: str
    host_name: str
    connected: bool
    policy: str | None
    role: str | None
    clock_offset_ms: int | None
    serving: str | None
    unserved: NotRequired[str | None]
    error: str | None


class SyncPutOff(TypedDict):
    """A change that the cloud cannot accept yet."""

    type: str
    name: str
    reason: str


class SyncNetwork(TypedDict):
    """The network monitor's view."""

    satisfied: bool
    interface: str | None
    kind: str | None


class SyncCounters(TypedDict):
    """Counts since the host joined or the daemon started."""

    runs: int
    complete: int
    failed: int
    cancelled: int
    polls: int
    polls_skipped: int
    pages: int
    batches: int
    splits: int
    parked: int
    stream_openings: int


class SyncCounts(TypedDict):
    """Counts of one type of records in one run."""

    type: str
    pushed: int
    fetched: int
    unchanged: int
    parked: int


class SyncResultBody(TypedDict):
    """Result of one run of the engine."""

    run: int
    trigger: str
    age_ms: int
    duration_ms: int
    end: Literal["complete", "partial", "cancelled", "failed", "halted"]
    was_cancelled: bool
    skipped: int
    types: list[SyncCounts]
    error: str | None
    next: str | None


class SyncStatusBody(TypedDict):
    """State of the synchronisation. All sync routes except those of quarantined records answer 409 refused without a cloud."""

    zone: str
    mode: str
    pending: int
    role: str | None
    held_back: int
    full: str | None
    full_retry_in_ms: int | None
    put_off: list[SyncPutOff]
    parked: int
    unread: list[str]
    refetching: list[str]
    again: bool
    cancelling: bool
    failures: int
    last_success_ms: int | None
    error: str | None
    halt: str | None
    retry_in_ms: int | None
    poll_in_ms: int | None
    stream: Literal["closed", "opening", "open", "waiting"]
    stream_age_ms: int | None
    push_age_ms: int | None
    clock_behind_ms: int | None
    clock_error_ms: int | None
    epoch: str | None
    network: SyncNetwork | None
    refresh_version: int
    counters: SyncCounters
    result: SyncResultBody | None


class LiveBody(TypedDict):
    """Data of one event of /v1/live. A part that did not change is absent."""

    at: int
    meters: NotRequired[list[MeterStatus]]
    adapters: NotRequired[list[AdapterStatus]]
    store: NotRequired[StoreStatus]
    cloud: NotRequired[CloudStatus]
    sync: NotRequired[SyncStatusBody]
    refresh_version: NotRequired[int]
    alerts_raised: NotRequired[int]


class BrokerStatus(TypedDict):
    """State of the connection to the MQTT broker."""

    configured: bool
    url: str | None
    connected: bool
    since: str | None
    queued: int
    backlog: int
    published: int
    dropped: int
    refused: int
    refused_topics: int
    hears_requests: bool
    links_opened: int
    error: str | None
    next: str | None


class WhoEntry(TypedDict):
    """One lease of the zone."""

    meter: str
    name: str | None
    model: str | None
    holder: str | None
    holder_id: str | None
    mine: bool
    transport: str | None
    state: str
    remaining_ms: int | None
    token: int | None
    policy: str | None
    since: str | None
    waiting: list[str]


class WhoBody(TypedDict):
    """Leases of the cloud; an empty list without one."""

    joined: bool
    leases: list[WhoEntry]


class CloudJoinRequest(TypedDict):
    """Which cloud to join."""

    urls: list[str]
    token: str
    pin: NotRequired[str | None]
    bring_all: NotRequired[bool | None]


class RetiredHost(TypedDict):
    """The host as it was."""

    id: str
    name: str
    tokens: int
    leases: list[str]


class SyncRequest(TypedDict):
    """How to sync."""

    detach: NotRequired[bool | None]


class ParkedEntry(TypedDict):
    """A quarantined record: kept on this host and not synchronised."""

    id: str
    reason: Literal["refused", "unreadable", "unlisted", "otherZone"]
    words: str
    type: str
    name: str
    values: dict[str, str]
    own: bool
    zone: str | None
    at_ms: int


class ParkedBody(TypedDict):
    """Newest first."""

    entries: list[ParkedEntry]


class ParkedAnswer(TypedDict):
    """What was restored or dropped."""

    id: str
    properties: NotRequired[int]


class RebuildRequest(TypedDict):
    """Whether to change anything."""

    dry_run: NotRequired[bool | None]


RebuildExample = TypedDict(
    "RebuildExample",
    {
        "type": str,
        "from": str,
        "into": str,
        "moved": list[str],
        "kept": list[str],
    },
)
"""A record that would be merged into another."""


class RebuildReportBody(TypedDict):
    """The answer to a dry run."""

    scanned: int
    folded: int
    examples: list[RebuildExample]


class RebuildLine(TypedDict):
    """Progress of a rebuild. The last line has complete, cancelled, or failed with error."""

    state: Literal["running", "complete", "cancelled", "failed"]
    version: NotRequired[int]
    scanned: NotRequired[int]
    folded: NotRequired[int]
    error: NotRequired[ErrorBody]


class WebTLSStatus(TypedDict):
    """The certificate of the web page."""

    self_signed: bool
    fingerprint: str | None
    ends: str | None
    days_left: int | None
    error: str | None


class WebStatus(TypedDict):
    """Where the web page is served."""

    serving: bool
    enabled: bool
    listen: str
    urls: list[str]
    error: str | None
    next: str | None
    tls: WebTLSStatus | None
    warning: str | None
    announced: str | None
    announcement_error: str | None
    announcement_next: str | None
    token: NotRequired[str]


class WebEnableRequest(TypedDict):
    """Where to open it."""

    listen: NotRequired[str | None]


ProfilerRequest = TypedDict(
    "ProfilerRequest",
    {
        "meters": list[str],
        "from": NotRequired[str | None],
        "to": NotRequired[str | None],
        "for_ms": NotRequired[int | None],
    },
)
"""The meters to show. With from and to it is a profile of that stretch, otherwise a power source."""


class ProfilerBody(TypedDict):
    """An address that needs no login."""

    url: str
    viewer: str | None
    ends: str | None


class LoginRequest(TypedDict):
    """The token that meterctl web enable printed."""

    token: str


class SessionBody(TypedDict):
    """Whether the client is logged in and may change something."""

    login: Literal["none", "needed", "done"]
    may_change: bool
    reason: NotRequired[str]
