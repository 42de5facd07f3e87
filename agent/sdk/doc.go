// Package sdk tells what happens in a session in the words of the Open Agent
// SDK, for programs that know those (OAS-102). It adds nothing to the events
// and keeps nothing back but deltas that later messages make up for: each event is
// one message or several.
//
//	for msg, err := range sdk.Messages(session.Run(ctx, "Fix the login bug.")) {
//		switch m := msg.Data.(type) {
//		case sdk.PartialMessage:
//			fmt.Print(m.Text)
//		case sdk.Result:
//			fmt.Println(m.Status, m.TotalCost)
//		}
//	}
//
// Where a message says what an event of Atelier says, it has the event's own
// members. Of the SDK's kinds localCommandOutput and promptSuggestion are
// missing, because nothing in Atelier gives cause for them.
package sdk
