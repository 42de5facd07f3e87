package workbench_test

import (
	"testing"

	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/reading"
	"atelier.dev/atelier/backend/sessionlist"
)

// History is read page by page, in both directions.
func TestHistoryPages(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, ""))
	session := p.session("compat")
	for range 20 {
		must[backend.SessionInfo](p, "sessions.rename", sessionlist.RenameRequest{Session: session, Title: "again"})
	}
	newest := must[conversation.Snapshot](p, "conversation.open", conversation.OpenRequest{Session: session, Limit: 5})
	if len(newest.Events) != 5 || !newest.More {
		t.Fatalf("%d events, more %t", len(newest.Events), newest.More)
	}
	if one := must[conversation.Snapshot](p, "conversation.open", conversation.OpenRequest{Session: session, Limit: 1}); len(one.Events) != 1 || !one.More {
		t.Errorf("of one event: %d, more %t", len(one.Events), one.More)
	}
	seen := len(newest.Events)
	for first, more := newest.Events[0].Seq, true; more; {
		older := must[reading.HistoryReply](p, "conversation.history", reading.HistoryRequest{Session: session, Before: first, Limit: 5})
		seen += len(older.Events)
		first, more = older.Events[0].Seq, older.More
	}
	if int64(seen) != newest.Session.Seq {
		t.Errorf("%d events in pages, the log has %d", seen, newest.Session.Seq)
	}
	seen = 0
	for after, more := int64(2), true; more; {
		newer := must[reading.HistoryReply](p, "conversation.history", reading.HistoryRequest{Session: session, After: after, Limit: 5})
		if n := len(newer.Events); n > 5 || newer.Events[0].Seq != after+1 {
			t.Fatalf("%d events from %d behind %d", n, newer.Events[0].Seq, after)
		}
		seen += len(newer.Events)
		after, more = newer.Events[len(newer.Events)-1].Seq, newer.More
	}
	if int64(seen) != newest.Session.Seq-2 {
		t.Errorf("%d events in pages behind the second, the log has %d", seen, newest.Session.Seq)
	}
	first := must[reading.HistoryReply](p, "conversation.history", reading.HistoryRequest{Session: session, Limit: 5})
	if len(first.Events) != 5 || first.Events[0].Seq != 1 || !first.More {
		t.Errorf("the log begins with %d events from %d, more %t", len(first.Events), first.Events[0].Seq, first.More)
	}
	if _, err := call[reading.HistoryReply](p, "conversation.history", reading.HistoryRequest{Session: session, After: 2, Before: 9}); err == nil {
		t.Error("a page with two ends was read")
	}
}
