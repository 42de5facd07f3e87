package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/storage"
)

// maxLacking limits the sessions that a report names.
const maxLacking = 20

// sound adds to a check of the database what a look at all of it finds.
func (ch check) sound(ctx context.Context, store backend.Checked) check {
	err := store.Verify(ctx)
	health := store.Health()
	if err != nil && health.Damage == "" {
		return ch.failed(err)
	}
	ch.Detail += fmt.Sprintf(", sessions of all projects: %d stored, %d shown", health.Stored, health.Shown)
	for _, e := range health.Problems() {
		ch.Detail, ch.Next = ch.Detail+". "+e.Message, e.Next
		if e.Code != backend.CodeStoreNewer {
			ch.State = stateFailed
		}
	}
	return ch
}

// repair says what a repair does, asks, and does it.
func (c *command) repair(yes bool) int {
	home, err := c.home()
	if err != nil {
		return c.fail(err)
	}
	defer c.logTo(home)()
	path := filepath.Join(home, storage.File)
	fmt.Fprintf(c.out, `This repairs %s:
  1. its files are copied as they are into the folder %s
  2. a new database is made with everything in it that can be read: events, settings, what waits for delivery, the log of hooks
  3. sessions, costs, open questions and all indexes, also the one for searching, are made anew from the events
  4. the new database takes the place of the old one
Nothing is deleted. Atelier must not be running.
`, path, filepath.Join(home, storage.Backups))
	if !yes && !c.agrees("Go on?") {
		fmt.Fprintln(c.out, "Nothing was changed.")
		return exitFailed
	}
	done, err := storage.Repair(c.ctx, home)
	if err != nil {
		return c.fail(err)
	}
	c.printRepaired(done)
	return exitDone
}

// agrees asks on the terminal, and takes anything but yes for no, also an interrupt.
func (c *command) agrees(question string) bool {
	fmt.Fprintf(c.out, "%s [y/N] ", question)
	answers := make(chan string, 1)
	go func() { // until something is typed, or the program ends
		line, _ := bufio.NewReader(io.LimitReader(c.in, 100)).ReadString('\n')
		answers <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case answer := <-answers:
		return answer == "y" || answer == "yes"
	case <-c.ctx.Done():
		return false
	}
}

// printRepaired says what was kept and what is lost.
func (c *command) printRepaired(r storage.Repaired) {
	fmt.Fprintf(c.out, "Kept: %d sessions, %d events, %d settings, the costs of %d requests.\n", r.Sessions, r.Events, r.Settings, r.Requests)
	fmt.Fprintf(c.out, "Lost, as far as is known: %d events, %d whole sessions, %d settings.\n", r.LostEvents, r.LostSessions, r.LostSettings)
	for i, s := range r.Lacking {
		if i == maxLacking {
			fmt.Fprintf(c.out, "  and %d more sessions lack events\n", len(r.Lacking)-maxLacking)
			break
		}
		fmt.Fprintf(c.out, "  session %s lacks %d of %d events\n", s.Session, s.Missing, s.Of)
	}
	if r.Returned {
		fmt.Fprintln(c.out, "The beginning of the file was damaged, so sessions that were deleted may be back.")
	}
	fmt.Fprintf(c.out, "The database as it was is in %s. Delete that folder once you have looked at your sessions.\n", r.Copy)
}
