// Package sdk reports the events of a session as messages of the Open Agent
// SDK, for programs that know those (OAS-102). Each event becomes one message
// or several, except three kinds of delta, because later messages contain the
// same.
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
// If a message means the same as an event of Atelier, it has the event's own
// members. Anything that the SDK has no type for is a [System] message.
package sdk
