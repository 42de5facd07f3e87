// Package feed carries events from sessions to the pages that watch, in few and
// small envelopes, and never more than a page can paint.
//
// It gathers deltas for 33 ms and sends durable events at once, in envelopes of at most 64 KB. The
// page reads by id whatever was cut for display, and an envelope's seq tells it when it missed
// events.
package feed
