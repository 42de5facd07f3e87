// Package sdk tells what happens in a session in the words of the Open Agent
// SDK, for programs that know those (OAS-102). Each event is one message or
// several; only three kinds of delta are none, because what follows them says more.
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
// members. What the SDK has no word for is a [System] message.
package sdk
