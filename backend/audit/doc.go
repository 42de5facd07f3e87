// Package audit reads from the logs what ran and what decided about it (OAS-630).
//
// It keeps nothing of its own: the ends of calls are the record, read through an index on their
// time, a bounded part of the logs at a time. What an older log does not say is shown as not
// recorded.
package audit
