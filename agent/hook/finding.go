package hook

import "atelier.dev/atelier/agent"

// Finding is something about a settings file that its author should know.
type Finding struct {
	ID FindingID `json:"id"`
	// Args fill the sentence.
	Args []string `json:"args,omitempty"`
	// Line is the line in the file, counted from 1.
	Line int `json:"line"`
	// Hook is the number, from 1, of the hook that the finding is about; 0 if it is not
	// about a hook. A finding about a matcher names the first hook of its group.
	Hook int `json:"hook,omitempty"`
	// Harmless findings change nothing: the hook runs.
	Harmless bool `json:"harmless,omitempty"`
	// Message is the sentence in English.
	Message string `json:"message"`
}

// FindingID names one kind of finding, for those who word it in another
// language.
type FindingID string

// The findings, each with the arguments of its sentence.
const (
	FindingNotObject     FindingID = "not_object"      //
	FindingEventUnknown  FindingID = "event_unknown"   // its name
	FindingEventClose    FindingID = "event_close"     // its name, the name that was probably meant
	FindingEventForeign  FindingID = "event_foreign"   // its name, the product
	FindingNotList       FindingID = "not_list"        // the event's name
	FindingGroup         FindingID = "group"           //
	FindingFlat          FindingID = "flat"            // products with such files
	FindingGroupEmpty    FindingID = "group_empty"     //
	FindingHandler       FindingID = "handler"         //
	FindingKindMissing   FindingID = "kind_missing"    //
	FindingKindUnknown   FindingID = "kind_unknown"    // the type
	FindingCommand       FindingID = "command_missing" //
	FindingURL           FindingID = "url_bad"         // the address
	FindingTimeBad       FindingID = "timeout_bad"     // the number, the seconds that are used
	FindingTimeLong      FindingID = "timeout_long"    // the number
	FindingTimeMilli     FindingID = "timeout_milli"   // the number
	FindingMatcherBad    FindingID = "matcher_bad"     // the matcher, what is wrong
	FindingMatcherGuard  FindingID = "matcher_guard"   // the matcher, what is wrong
	FindingMatcherWide   FindingID = "matcher_wide"    // the matcher, a name that was meant, the others that match
	FindingMatcherNone   FindingID = "matcher_none"    // the matcher
	FindingMatcherUnused FindingID = "matcher_unused"  // the event's name
	FindingIfUnused      FindingID = "if_unused"       // the event's name
	FindingAsync         FindingID = "async"           //
	FindingMember        FindingID = "member_unused"   // its name
	FindingMemberType    FindingID = "member_type"     // its name
	FindingTooMany       FindingID = "too_many"        // how many are read
)

// findings are the English sentences, and whether the hook runs all the same.
var findings = map[FindingID]struct {
	harmless bool
	sentence string
}{
	FindingNotObject:     {false, "The hooks are not an object with one member for each event. None of them runs."},
	FindingEventUnknown:  {false, "There is no event {0}. Its hooks do not run."},
	FindingEventClose:    {false, "There is no event {0}. Is {1} meant? The hooks do not run."},
	FindingEventForeign:  {false, "{0} is an event of {1}. Its hooks do not run here."},
	FindingNotList:       {false, "{0} is not a list of groups. None of its hooks runs."},
	FindingGroup:         {false, "This is not a group of hooks: an object with a list of hooks. It is left out."},
	FindingFlat:          {false, "This hook stands in the place of a group, as in the files of {0}. It does not run."},
	FindingGroupEmpty:    {true, "This group has no hooks."},
	FindingHandler:       {false, "This is not a hook: an object with a type and a command. It is left out."},
	FindingKindMissing:   {true, "The hook has no type. It runs as a command."},
	FindingKindUnknown:   {false, "Hooks of the type {0} do not run here."},
	FindingCommand:       {false, "The hook has no command. It does not run."},
	FindingURL:           {false, "{0} is not an http or https address. The hook does not run."},
	FindingTimeBad:       {true, "The timeout {0} is not a positive number of seconds. The hook has {1} seconds."},
	FindingTimeLong:      {true, "The timeout {0} is too long. The hook has 600 seconds."},
	FindingTimeMilli:     {true, "The timeout {0} is probably in milliseconds, but timeouts are in seconds. The hook has 600 seconds."},
	FindingMatcherBad:    {false, "The matcher {0} cannot be read: {1}. The hook does not run."},
	FindingMatcherGuard:  {false, "The matcher {0} cannot be read: {1}. Because nobody can tell what the hook guards, every call is asked about."},
	FindingMatcherWide:   {true, "The matcher {0} is meant for {1}, but also matches {2}."},
	FindingMatcherNone:   {true, "The matcher {0} matches no tool of Atelier."},
	FindingMatcherUnused: {true, "Hooks of {0} have no matcher. This one runs each time."},
	FindingIfUnused:      {true, "{0} is not about a tool, so that \u201cif\u201d has no effect."},
	FindingAsync:         {true, "The hook runs beside the session, so that it cannot decide anything."},
	FindingMember:        {true, "{0} has no effect here."},
	FindingMemberType:    {true, "{0} has the wrong type and is left out."},
	FindingTooMany:       {false, "The file has too many hooks. Only the first {0} are read."},
}

func found(line int, id FindingID, args ...string) Finding {
	f := findings[id]
	return Finding{ID: id, Args: args, Line: line, Harmless: f.harmless, Message: agent.Fill(f.sentence, args)}
}
