// This library is preloaded into the unmodified program and opens its web view
// to WebKitWebDriver: the view is created as controlled by automation, and is
// returned when the driver requests one.
#include <stdlib.h>
#include <webkit2/webkit2.h>

static WebKitWebView *the_view;

// The preload is for this process only, not for its children.
__attribute__((constructor)) static void loaded(void) { unsetenv("LD_PRELOAD"); }

static WebKitWebView *offer_view(WebKitAutomationSession *session, gpointer data) { return the_view; }

static void automation_started(WebKitWebContext *context, WebKitAutomationSession *session, gpointer data) {
    WebKitApplicationInfo *info = webkit_application_info_new();
    webkit_application_info_set_name(info, "atelier");
    webkit_application_info_set_version(info, 1, 0, 0);
    webkit_automation_session_set_application_info(session, info);
    webkit_application_info_unref(info);
    g_signal_connect(session, "create-web-view", G_CALLBACK(offer_view), NULL);
}

// This replaces WebKit's own function, which Wails calls.
GtkWidget *webkit_web_view_new_with_user_content_manager(WebKitUserContentManager *manager) {
    WebKitWebContext *context = webkit_web_context_get_default();
    webkit_web_context_set_automation_allowed(context, TRUE);
    g_signal_connect(context, "automation-started", G_CALLBACK(automation_started), NULL);
    the_view = g_object_new(WEBKIT_TYPE_WEB_VIEW, "user-content-manager", manager,
                            "is-controlled-by-automation", TRUE, NULL);
    return GTK_WIDGET(the_view);
}
