package desktop

import (
	"context"
	"testing"

	"github.com/godbus/dbus/v5"
	"github.com/google/go-cmp/cmp"
)

// A notice that the user dismissed, or that expired, was not pressed; nor were
// those of other programs. A notice about the same replaces the earlier one.
func TestNoticesThatWerePressed(t *testing.T) {
	t.Parallel()
	var pressed, calls []string
	last := uint32(0)
	b := newNoticeBoard(t.Context(), t.Context(), func(id string) { pressed = append(pressed, id) }).(*busBoard)
	b.call = func(method string, args ...any) *dbus.Call {
		calls = append(calls, method)
		if method == "CloseNotification" {
			return &dbus.Call{}
		}
		last++
		return &dbus.Call{Body: []any{last}}
	}
	for _, id := range []string{"a done", "b done", "c done", "a done"} { // 1, 2, 3, 4
		if err := b.show(id, "Done", "a title"); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"Notify", "Notify", "Notify", "CloseNotification", "Notify"}, calls); diff != "" {
		t.Error(diff)
	}
	const expired, dismissed, byProgram = uint32(1), uint32(2), uint32(3)
	for _, signal := range []dbus.Signal{
		{Name: closedNow, Body: []any{uint32(1), byProgram}},
		{Name: closedNow, Body: []any{uint32(2), dismissed}},
		{Name: pressedNow, Body: []any{uint32(2), "default"}},
		{Name: closedNow, Body: []any{uint32(3), expired}},
		{Name: pressedNow, Body: []any{uint32(99), "default"}},
		{Name: pressedNow, Body: []any{"no number"}},
		{Name: pressedNow},
		{Name: pressedNow, Body: []any{uint32(4), "default"}},
		{Name: closedNow, Body: []any{uint32(4), dismissed}}, // as desktops do once a notice is pressed
	} {
		b.take(&signal)
	}
	if diff := cmp.Diff([]string{"a done"}, pressed); diff != "" {
		t.Error(diff)
	}
	if len(b.ids) > 0 {
		t.Errorf("remembers %v", b.ids)
	}
}

// The memory of notices is bounded, whether or not the desktop closes notices.
func TestNoticesAreForgotten(t *testing.T) {
	t.Parallel()
	b := newNoticeBoard(context.Background(), context.Background(), nil).(*busBoard)
	last := uint32(0)
	b.call = func(string, ...any) *dbus.Call {
		last++
		return &dbus.Call{Body: []any{last}}
	}
	for range 3 * maxShown {
		if err := b.show(string(rune('a'+last%1000)), "", ""); err != nil {
			t.Fatal(err)
		}
	}
	if len(b.ids) > maxShown {
		t.Errorf("remembers %d notices", len(b.ids))
	}
}

// A desktop reads a body as markup.
func TestNoticeBodyIsNotMarkup(t *testing.T) {
	t.Parallel()
	const text = `<b>R&D</b> <a href="http://x">`
	if got, want := markup(text), "&lt;b&gt;R&amp;D&lt;/b&gt; &lt;a href=\"http://x\"&gt;"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Without a bus, nothing is connected to, because that would start a program.
func TestSessionBus(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct {
		address, runtime string
		want             bool
	}{
		{"unix:path=/x", "", true},
		{"autolaunch:", dir, false},
		{"", dir, false},
		{"", "", false},
	} {
		t.Setenv("DBUS_SESSION_BUS_ADDRESS", tt.address)
		t.Setenv("XDG_RUNTIME_DIR", tt.runtime)
		if got := hasSessionBus(); got != tt.want {
			t.Errorf("%+v: %t", tt, got)
		}
	}
}
