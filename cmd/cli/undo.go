package cli

import (
	"errors"
	"fmt"
	"slices"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/undoing"
	"atelier.dev/atelier/cmd/cli/output"
)

// undoFlags are what atelier undo and atelier redo are told.
type undoFlags struct {
	*sessionFlags
	step                     string
	code, conversation, both bool
	rest, yes                bool
}

// undo undoes what the newest turn of a session did, or redoes what was undone last,
// after it has shown what that does.
func (c *command) undo(verb string, args []string) int {
	f := undoFlags{sessionFlags: c.sessionFlags("atelier " + verb + " [flags] [SESSION]")}
	what := "take the newest turn back from the conversation"
	if verb == "redo" {
		what = "bring back what was taken from the conversation last"
	} else {
		f.StringVar(&f.step, "step", "", "undo only one step: the newest, or --step=CALL")
		f.Lookup("step").NoOptDefVal = newestStep
	}
	f.BoolVar(&f.code, "code", false, verb+" changes of files only (default)")
	f.BoolVar(&f.conversation, "conversation", false, what+", and leave files as they are")
	f.BoolVar(&f.both, "both", false, what+", and "+verb+" the changes of files")
	f.BoolVar(&f.rest, "rest", false, "restore the rest of files of which parts were changed since")
	f.BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	usage := f.Usage
	f.Usage = func() {
		usage()
		fmt.Fprint(c.err, "Without SESSION, it is the newest session of the folder. What will be done is shown first;\n"+
			"with --json and without --yes, it is only shown.\n"+
			"Exit code: 0 if all was done, 1 if nothing was or a file stayed as it is.\n")
	}
	if code, ok := c.parse(f.FlagSet, args); !ok {
		return code
	}
	if err := f.check(); err != nil {
		return c.misused(f.FlagSet, err.Error())
	}
	do := func(a *app, session backend.SessionInfo) error {
		u := undoRun{command: c, undoFlags: f, app: a, session: session, verb: verb}
		return u.do()
	}
	code := exitDone
	if f.NArg() == 1 {
		code = c.withSession(f.sessionFlags, f.Arg(0), do)
	} else {
		code = c.withApp(f.folder, func(a *app) error {
			session, err := a.List().Newest(c.ctx)
			if err != nil {
				return err
			}
			return do(a, session)
		})
	}
	if c.ctx.Err() != nil {
		return exitInterrupted
	}
	return code
}

// newestStep is what --step says without a call.
const newestStep = "the newest"

// check says what is wrong with the flags.
func (f *undoFlags) check() error {
	parts := 0
	for _, isChosen := range []bool{f.code, f.conversation, f.both} {
		if isChosen {
			parts++
		}
	}
	switch {
	case f.NArg() > 1:
		return errors.New("name one session at most")
	case parts > 1:
		return errors.New("--code, --conversation and --both exclude each other")
	case f.step != "" && (f.conversation || f.both):
		return errors.New("--step undoes changes of files only")
	}
	return nil
}

// undoRun is one undo or redo.
type undoRun struct {
	*command
	undoFlags
	app     *app
	session backend.SessionInfo
	verb    string
	preview undoing.UndoPreview
	files   []undoing.UndoChoice // that are restored
	left    bool                 // of the files, some stay as they are
}

// do shows what will be done, asks, and does it.
func (u *undoRun) do() error {
	release, err := u.app.store.Lease(u.session.ID)
	if err != nil {
		return err // another process runs it
	}
	release()
	rewinds := u.conversation || u.both
	if rewinds && u.verb == "redo" && len(u.session.Rewound) == 0 {
		return backend.Problem(backend.ProblemRewindNothing)
	}
	if !u.asJSON {
		fmt.Fprintf(u.out, "Session %s  %s\n", u.session.ID, output.OneLine(u.session.Title))
	}
	if !u.conversation {
		var e *backend.Error
		err := u.look()
		isNothing := errors.As(err, &e) && (e.ID == backend.ProblemUndoNothing || e.ID == backend.ProblemRedoNothing)
		if err != nil && !(rewinds && isNothing) { // a conversation is taken back without files, too
			return err
		}
	}
	if len(u.files) == 0 && !rewinds {
		fmt.Fprintf(u.err, "Nothing can be %s.\n", undone[u.verb])
		return errSaid
	}
	if rewinds && !u.asJSON {
		fmt.Fprintln(u.out, map[string]string{
			"undo": "The conversation is rewound to before the newest turn.", "redo": "What was rewound last returns to the conversation.",
		}[u.verb])
	}
	if u.asJSON && !u.yes {
		return nil
	}
	if !u.yes && !u.agrees("Go on?") {
		fmt.Fprintln(u.out, "Nothing was changed.")
		return errSaid
	}
	if err := u.restore(); err != nil {
		return err
	}
	if rewinds {
		if err := u.rewind(); err != nil {
			return err
		}
	}
	if u.left {
		return errSaid
	}
	return nil
}

var undone = map[string]string{"undo": "undone", "redo": "redone"}

// look reads and shows what would be done to files, and chooses what is done.
func (u *undoRun) look() (err error) {
	in := undoing.UndoPreviewRequest{Session: u.session.ID}
	switch {
	case u.verb == "redo":
		in.Target.Redo = true
	case u.both:
		in.Target.Newest = true
	case u.step == newestStep:
		in.Target.Step = &agent.StepRef{Session: u.session.ID}
	case u.step != "":
		in.Target.Step = &agent.StepRef{Session: u.session.ID, Call: u.step}
	}
	if u.preview, err = ask[undoing.UndoPreview](u.ctx, u.app, "undo.preview", in); err != nil {
		return err
	}
	for _, file := range u.preview.Files {
		isTaken := file.Restorable && (file.Reason == "" || u.rest)
		if isTaken {
			u.files = append(u.files, undoing.UndoChoice{Path: file.Path, Seal: file.Seal, Rest: file.Reason != ""})
		}
		u.left = u.left || file.Reason != ""
		if !u.asJSON {
			u.show(file, isTaken)
		}
	}
	u.left = u.left || u.preview.More > 0
	if u.asJSON {
		return output.WriteJSON(u.out, u.preview)
	}
	if u.preview.More > 0 {
		fmt.Fprintf(u.out, "Other changes, which were not recorded and cannot be %s: %d\n", undone[u.verb], u.preview.More)
	}
	if u.preview.Commands && u.verb == "undo" {
		fmt.Fprintln(u.out, "What commands did to files that git ignores is not recorded, and stays.")
	}
	if u.preview.Unwatched {
		fmt.Fprintln(u.out, "Other changes may have been missed, because the folder could not be watched.")
	}
	return nil
}

// The outcomes for a file, and the reasons why it is left alone.
var (
	undoEffects = map[undoing.UndoEffect]string{
		undoing.UndoNothing: "stays", undoing.UndoChanges: "is restored", undoing.UndoMode: "changes its mode",
		undoing.UndoRemoves: "is removed", undoing.UndoBringsBack: "is brought back",
	}
	undoReasons = map[agent.ConflictReason]string{
		agent.ConflictChanged: "it was changed since", agent.ConflictBinary: "it was changed since and is not text",
		agent.ConflictVanished: "it does not exist any more", agent.ConflictOccupied: "something else stands in its place",
		agent.ConflictUnkept: "the journal does not have its contents", agent.ConflictRefused: "it may not be changed",
		agent.ConflictLinked: "it has other names (hard links), which would be parted from it", agent.ConflictFull: "the disk is full",
	}
)

// show prints what happens to a file.
func (u *undoRun) show(file undoing.UndoFile, isTaken bool) {
	effect := undoEffects[file.Effect]
	if !isTaken {
		effect = "stays"
	}
	line := fmt.Sprintf("  %-16s  %s", effect, output.LineOf(file.Path, maxUndoPath))
	if isTaken && file.Added+file.Removed > 0 {
		line += fmt.Sprintf("  +%d -%d", file.Added, file.Removed)
	}
	if file.Reason != "" {
		line += "  (" + undoReasons[file.Reason]
		if file.Places > 0 {
			line += ", and what was changed stays"
		}
		if file.Restorable && !isTaken {
			line += "; --rest restores the rest"
		}
		line += ")"
	}
	fmt.Fprintln(u.out, line)
}

// maxUndoPath limits a path on a line.
const maxUndoPath = 200

// restore restores the files that were chosen.
func (u *undoRun) restore() error {
	if len(u.files) == 0 {
		return nil
	}
	in := undoing.UndoApplyRequest{Session: u.session.ID, Target: u.preview.Target, Files: u.files}
	reply, err := ask[undoing.UndoReply](u.ctx, u.app, "undo.apply", in)
	if err != nil {
		return err
	}
	u.left = u.left || len(reply.Restored.Conflicts) > 0
	if u.asJSON {
		return output.WriteJSON(u.out, reply)
	}
	fmt.Fprintf(u.out, "Files that were %s: %d\n", undone[u.verb], len(reply.Restored.Files))
	for _, conflict := range reply.Restored.Conflicts {
		extent := "stays"
		if slices.Contains(reply.Restored.Partly, conflict.Path) {
			extent = "is restored in part"
		}
		fmt.Fprintf(u.out, "  %s  %s  (%s)\n", extent, output.LineOf(conflict.Path, maxUndoPath), undoReasons[conflict.Reason])
	}
	return nil
}

// rewind takes the newest turn back from the conversation, or brings back what was
// taken last.
func (u *undoRun) rewind() error {
	if u.verb == "redo" {
		last := u.session.Rewound[len(u.session.Rewound)-1]
		_, err := ask[backend.Empty](u.ctx, u.app, "undo.bring_back", undoing.BringBackRequest{Session: u.session.ID, ID: last.ID})
		if err == nil && !u.asJSON {
			fmt.Fprintln(u.out, "The conversation is as it was.")
		}
		return err
	}
	reply, err := ask[undoing.RewindReply](u.ctx, u.app, "undo.rewind", undoing.RewindRequest{Session: u.session.ID, Turn: u.preview.Target.Since})
	if err != nil {
		return err
	}
	if u.asJSON {
		return output.WriteJSON(u.out, reply)
	}
	fmt.Fprintf(u.out, "Rewound: %s\n", output.LineOf(reply.Prompt, maxUndoPath))
	return nil
}
