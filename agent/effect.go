package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"atelier.dev/atelier/internal/text"
)

// Effect is one thing that a call would do, for the person who is asked about
// it. Args name its objects.
type Effect struct {
	ID EffectID `json:"id"`
	// Args are the files, hosts, programs or words that it concerns, as the call
	// has them; the first few, each cut to a short length.
	Args []string `json:"args,omitempty"`
	// More counts the arguments that were left out.
	More int `json:"more,omitempty"`
}

// EffectID is the id of an effect, for which the page has words in each language.
type EffectID string

// The effects. Comments name their arguments.
const (
	EffectNetCode        EffectID = "net_code"        // runs code from the network: what fetches it
	EffectBuiltCode      EffectID = "built_code"      // runs text as code that only comes about then: what runs it
	EffectDeletesAll     EffectID = "deletes_all"     // deletes the whole project, or everything in it: the words
	EffectDeletesOutside EffectID = "deletes_outside" // deletes outside the project: paths
	EffectDeletesUnknown EffectID = "deletes_unknown" // deletes folders that cannot be told: the words
	EffectDestroys       EffectID = "destroys"        // deletes what a service keeps: the command
	EffectDiscards       EffectID = "git_discards"    // drops work that git does not keep: the command
	EffectReverts        EffectID = "git_reverts"     // drops changes of files that an undo brings back: the command
	EffectForces         EffectID = "git_force"       // overwrites what others see of a repository: the command
	EffectDisks          EffectID = "disks"           // writes to a disk or device past its files: its name
	EffectStopsMachine   EffectID = "stops_machine"   // ends or restarts the computer: the program
	EffectExhausts       EffectID = "exhausts"        // starts processes without end: the function
	EffectOtherUser      EffectID = "other_user"      // runs as another user: the program
	EffectHidden         EffectID = "hidden"          // has characters that cannot be seen
	EffectTooLong        EffectID = "too_long"        // is too long or too deep to look at
	EffectLeaks          EffectID = "leaks"           // reads secrets in a line that reaches the network
	EffectDeletes        EffectID = "deletes"         // deletes in the project or among temporary files: paths
	EffectRewrites       EffectID = "git_rewrites"    // rewrites commits or removes names of them: the command
	EffectEnds           EffectID = "ends"            // ends processes: which
	EffectSystem         EffectID = "system"          // changes services, accounts or settings of the computer: the program
	EffectSends          EffectID = "sends"           // sends data: hosts
	EffectPackages       EffectID = "packages"        // downloads packages and runs their scripts: the command
	EffectNetwork        EffectID = "network"         // reaches the network: hosts, or the program
	EffectSecrets        EffectID = "secrets"         // touches files that may hold secrets: paths
	EffectControls       EffectID = "controls"        // changes files that make other programs run code: paths
	EffectOutside        EffectID = "outside"         // touches files outside the project: paths
	EffectShared         EffectID = "shared"          // writes files that others write now: paths, with who does
	EffectUnknown        EffectID = "unknown"         // cannot be told: the part that does it
	EffectRunsProject    EffectID = "runs_project"    // runs the project's own code: the command
	EffectLoopback       EffectID = "loopback"        // talks to a program on this computer: its address
	EffectChanges        EffectID = "changes"         // changes files in the project: paths
	EffectOwn            EffectID = "own"             // concerns only what the session itself starts
	EffectReads          EffectID = "reads"           // only reads
)

// Risk is how much could be lost.
type Risk string

// The risks. What is dangerous cannot be undone, or gives control away.
const (
	RiskLow       Risk = "low"
	RiskElevated  Risk = "elevated"
	RiskDangerous Risk = "dangerous"
)

// risks has the risk of each effect and what it is called, gravest first, which
// is also the order in which they are shown.
var risks = []struct {
	id   EffectID
	risk Risk
	text string
}{
	{EffectNetCode, RiskDangerous, "Runs code from the network"},
	{EffectBuiltCode, RiskDangerous, "Runs text as code that cannot be read here"},
	{EffectDeletesAll, RiskDangerous, "Deletes everything in the project"},
	{EffectDeletesOutside, RiskDangerous, "Deletes files outside the project"},
	{EffectDeletesUnknown, RiskDangerous, "Deletes folders that cannot be known in advance"},
	{EffectDestroys, RiskDangerous, "Deletes data of a service"},
	{EffectDiscards, RiskDangerous, "Discards work that git does not keep"},
	{EffectReverts, RiskDangerous, "Discards changes of files"},
	{EffectForces, RiskDangerous, "Overwrites a branch for everyone"},
	{EffectDisks, RiskDangerous, "Writes to a disk or device directly"},
	{EffectStopsMachine, RiskDangerous, "Stops or restarts the computer"},
	{EffectExhausts, RiskDangerous, "Starts processes without end"},
	{EffectOtherUser, RiskDangerous, "Runs as another user"},
	{EffectHidden, RiskDangerous, "Has characters that cannot be seen"},
	{EffectTooLong, RiskDangerous, "Is too long to be examined"},
	{EffectLeaks, RiskDangerous, "May send secrets to the network"},
	{EffectDeletes, RiskElevated, "Deletes files"},
	{EffectRewrites, RiskElevated, "Rewrites git history"},
	{EffectEnds, RiskElevated, "Ends processes"},
	{EffectSystem, RiskElevated, "Changes services or settings of the computer"},
	{EffectSends, RiskElevated, "Sends data to the network"},
	{EffectPackages, RiskElevated, "Downloads packages and may run them"},
	{EffectNetwork, RiskElevated, "Reaches the network"},
	{EffectSecrets, RiskElevated, "Touches files that may hold secrets"},
	{EffectControls, RiskElevated, "Changes files that make other programs run code"},
	{EffectOutside, RiskElevated, "Touches files outside the project"},
	{EffectShared, RiskElevated, "Writes files that others are changing now"},
	{EffectUnknown, RiskElevated, "Cannot be known in advance"},
	{EffectRunsProject, RiskLow, "Runs the project’s own code"},
	{EffectLoopback, RiskLow, "Talks to a program on this computer"},
	{EffectChanges, RiskLow, "Changes files in the project"},
	{EffectOwn, RiskLow, "Concerns only what this session started"},
	{EffectReads, RiskLow, "Only reads"},
}

func gravity(id EffectID) int {
	for i, r := range risks {
		if r.id == id {
			return i
		}
	}
	return -1 // before all: a host's own id is taken for the gravest
}

// String returns the effect in English with what it concerns, such as
// "Deletes files: a, b, c and 2 more". A host's own effect is called by its id.
func (e Effect) String() string {
	text := string(e.ID)
	if at := gravity(e.ID); at >= 0 {
		text = risks[at].text
	}
	if len(e.Args) > 0 {
		text += ": " + strings.Join(e.Args, ", ")
	}
	if e.More > 0 {
		text += fmt.Sprintf(" and %d more", e.More)
	}
	return text
}

// Forecast is what a call would do, as far as it can be told in advance.
type Forecast struct {
	// Effects begin with the gravest. There is at least one.
	Effects []Effect `json:"effects,omitempty"`
	// Risk is that of the gravest effect.
	Risk Risk `json:"risk"`
}

// maxArgs and maxArg limit what an effect names: how many, and how many
// characters of each.
const (
	maxArgs = 3
	maxArg  = 80
)

// OutlookOf sorts effects, merges those with the same id and determines the
// risk. Without any effect, nothing can be told.
func OutlookOf(effects ...Effect) Forecast {
	var o Forecast
	for _, e := range effects {
		at := slices.IndexFunc(o.Effects, func(have Effect) bool { return have.ID == e.ID })
		if at < 0 {
			at = len(o.Effects)
			o.Effects = append(o.Effects, Effect{ID: e.ID})
		}
		into := &o.Effects[at]
		into.More += e.More
		for _, arg := range e.Args {
			switch arg = text.Shorten(arg, maxArg); {
			case arg == "" || slices.Contains(into.Args, arg):
			case len(into.Args) == maxArgs:
				into.More++
			default:
				into.Args = append(into.Args, arg)
			}
		}
	}
	if len(o.Effects) == 0 {
		o.Effects = []Effect{{ID: EffectUnknown}}
	}
	slices.SortStableFunc(o.Effects, func(a, b Effect) int { return cmp.Compare(gravity(a.ID), gravity(b.ID)) })
	o.Risk = RiskDangerous
	if at := gravity(o.Effects[0].ID); at >= 0 {
		o.Risk = risks[at].risk
	}
	return o
}

// Foreteller is implemented by gates that can tell what a call would do, for
// the person who is asked about it. Foretell is called from the session's
// goroutine, after Decide. It obeys the context. It may look at files but must change nothing.
type Foreteller interface {
	Foretell(context.Context, GateCall) Forecast
}

// outlook returns what a call would do, with the deletions that its preview
// shows; nil if the gate cannot tell.
func outlook(ctx context.Context, g Gate, call GateCall, changes []FileChange) *Forecast {
	f, ok := g.(Foreteller)
	if !ok {
		return nil
	}
	var o Forecast
	protect(call.Tool, func() { o = f.Foretell(ctx, call) })
	for _, change := range changes {
		if change.Deleted {
			o.Effects = append(o.Effects, Effect{ID: EffectDeletes, Args: []string{change.Path}})
		}
	}
	o = OutlookOf(o.Effects...)
	return &o
}
