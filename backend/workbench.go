package backend

import "context"

type Workbench struct{}

func nop[In, Out any](context.Context, In) (Out, error) { var o Out; return o, nil }

func (w *Workbench) dispatcher() *Dispatcher {
	d := &Dispatcher{methods: map[string]method{}}
	handle(d, "project.info", nop[Empty, ProjectInfo])
	handle(d, "sessions.list", nop[Empty, SessionList])
	handle(d, "sessions.create", nop[Empty, SessionInfo])
	handle(d, "sessions.rename", nop[RenameRequest, SessionInfo])
	handle(d, "sessions.delete", nop[SessionRef, Empty])
	handle(d, "conversation.open", nop[OpenRequest, Snapshot])
	handle(d, "conversation.history", nop[HistoryRequest, HistoryReply])
	handle(d, "conversation.event", nop[EventRef, EventReply])
	handle(d, "conversation.send", nop[SendRequest, Empty])
	handle(d, "conversation.interrupt", nop[SessionRef, Empty])
	handle(d, "conversation.answer", nop[AnswerRequest, Empty])
	handle(d, "conversation.configure", nop[ConfigureRequest, SessionInfo])
	handle(d, "models.list", nop[Empty, ModelList])
	handle(d, "keys.list", nop[Empty, KeyList])
	handle(d, "keys.set", nop[SetKeyRequest, KeyList])
	handle(d, "keys.remove", nop[ProviderRef, KeyList])
	handle(d, "preferences.get", nop[Empty, Preferences])
	handle(d, "preferences.set", nop[Preferences, Preferences])
	handle(d, "host.open_link", nop[LinkRequest, Empty])
	return d
}
