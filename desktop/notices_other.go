//go:build !linux

package desktop

import (
	"context"

	"github.com/wailsapp/wails/v2/pkg/runtime"
)

// wailsBoard shows notices through Wails.
type wailsBoard struct {
	window  context.Context
	pressed func(id string)
}

func newNoticeBoard(_, window context.Context, pressed func(id string)) noticeBoard {
	return wailsBoard{window, pressed}
}

func (b wailsBoard) connect() error {
	if err := runtime.InitializeNotifications(b.window); err != nil {
		return err
	}
	runtime.OnNotificationResponse(b.window, func(pressed runtime.NotificationResult) {
		if pressed.Error == nil {
			b.pressed(pressed.Response.ID)
		}
	})
	return nil
}

// show shows a notice, and takes an earlier one with the same id away.
func (b wailsBoard) show(id, title, body string) error {
	_ = runtime.RemoveNotification(b.window, id)
	return runtime.SendNotification(b.window, runtime.NotificationOptions{ID: id, Title: title, Body: body})
}
