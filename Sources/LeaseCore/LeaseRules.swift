/// The authority's rules: each decides one request on one lease, atomically, from its record alone.
///
/// An engine reads the record, calls the rule, and writes what comes back in the same transaction (or with a
/// compare-and-swap on what it read). No rule reads a clock.
package enum LeaseRules {}
