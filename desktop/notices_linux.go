package desktop

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/godbus/dbus/v5"
)

// notifier is the desktop's service for notices and its interface; see the Desktop
// Notifications Specification.
const (
	notifier     = "org.freedesktop.Notifications"
	notifierPath = dbus.ObjectPath("/org/freedesktop/Notifications")
	pressedNow   = notifier + ".ActionInvoked"
	closedNow    = notifier + ".NotificationClosed"
)

// maxShown limits how many notices are remembered, for a desktop that does not say
// when it closes one.
const maxShown = 256

// busBoard shows notices through the session bus. Wails would do so as well, but
// takes a notice that was dismissed for one that was pressed.
type busBoard struct {
	life    context.Context
	pressed func(id string)
	// call calls a method of the notifier; connect sets it.
	call func(method string, args ...any) *dbus.Call
	mu   sync.Mutex
	ids  map[uint32]string // of the notices on the desktop, by its numbers
}

func newNoticeBoard(life, _ context.Context, pressed func(id string)) noticeBoard {
	return &busBoard{life: life, pressed: pressed, ids: map[uint32]string{}}
}

// connect connects to the bus until the application closes.
func (b *busBoard) connect() error {
	if !hasSessionBus() {
		return os.ErrNotExist
	}
	bus, err := dbus.ConnectSessionBus(dbus.WithContext(b.life))
	if err != nil {
		return fmt.Errorf("connect to the session bus: %w", err)
	}
	for _, member := range []string{"ActionInvoked", "NotificationClosed"} {
		if err := bus.AddMatchSignalContext(b.life, dbus.WithMatchSender(notifier), dbus.WithMatchInterface(notifier), dbus.WithMatchMember(member)); err != nil {
			_ = bus.Close() // the first failure says more
			return fmt.Errorf("follow the notices: %w", err)
		}
	}
	b.call = func(method string, args ...any) *dbus.Call {
		return bus.Object(notifier, notifierPath).CallWithContext(b.life, notifier+"."+method, 0, args...)
	}
	signals := make(chan *dbus.Signal, 16)
	bus.Signal(signals)
	go func() { // ends with the connection, which closes the channel
		for signal := range signals {
			b.take(signal)
		}
	}()
	return nil
}

// show shows a notice, and takes an earlier one with the same id away.
func (b *busBoard) show(id, title, body string) error {
	for _, number := range b.shown(id) {
		b.call("CloseNotification", number) // it may have closed by itself
	}
	var number uint32
	actions := []string{"default", "Show"}
	err := b.call("Notify", "Atelier", uint32(0), "", title, markup(body), actions, map[string]dbus.Variant{}, int32(-1)).Store(&number)
	if err != nil {
		return fmt.Errorf("show a notice: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.ids) >= maxShown {
		clear(b.ids)
	}
	b.ids[number] = id
	return nil
}

// shown returns the numbers of the notices with an id, and forgets them.
func (b *busBoard) shown(id string) (numbers []uint32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for number, other := range b.ids {
		if other == id {
			numbers = append(numbers, number)
			delete(b.ids, number)
		}
	}
	return numbers
}

// take takes what the desktop says about any program's notices.
func (b *busBoard) take(signal *dbus.Signal) {
	if len(signal.Body) == 0 || signal.Name != pressedNow && signal.Name != closedNow {
		return
	}
	number, _ := signal.Body[0].(uint32)
	b.mu.Lock()
	id, ours := b.ids[number]
	delete(b.ids, number)
	b.mu.Unlock()
	if ours && signal.Name == pressedNow {
		b.pressed(id)
	}
}

// markup returns a text in the form of a notice's body, which desktops read as
// markup.
func markup(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}

// hasSessionBus reports whether there is a bus to connect to. Without one, the
// library would start a program to get one.
func hasSessionBus() bool {
	if address := os.Getenv("DBUS_SESSION_BUS_ADDRESS"); address != "" {
		return address != "autolaunch:"
	}
	_, err := os.Stat(filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "bus"))
	return err == nil && os.Getenv("XDG_RUNTIME_DIR") != ""
}
