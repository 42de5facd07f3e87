// Package wire is what every adapter does the same way: it reaches an
// endpoint, watches the answer for silence, turns each failure into one
// [llm.Error] without a secret in it, and assembles the neutral events of an
// answer. It knows no provider's SDK.
package wire
