// Package compaction decides when a conversation is too long, and has a model
// summarise its older part (COM-16, COM-19, OAS-109, K-08). It is the
// [agent.Compactor] that comes with Atelier. The loop decides what is cut and
// what is kept, and records it.
//
// The summary is written by the model that a host chooses, such as a small one, and by the
// session's own if that one fails. What is cut and kept is described in package agent.
package compaction
