// Package wire holds what every adapter needs: it reaches an endpoint, watches
// the answer for silence, turns each failure into one [llm.Error] without
// secrets, and assembles the neutral events of an answer. It does not know any
// provider's SDK.
package wire
