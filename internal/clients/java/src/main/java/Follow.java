import com.google.gson.Gson;
import io.getunleash.DefaultUnleash;
import io.getunleash.UnleashContext;
import io.getunleash.util.UnleashConfig;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Evaluates every flag in FLAGS for every user in USERS again and again with unleash-client-java, ROUNDS times if that is not 0, and
 * prints the answers as one line of JSON whenever one of them changes. It ends when the standard input ends.
 */
public class Follow {
    record Flag(String name) {}

    record User(String name, String userId, String plan) {}

    public static void main(String[] args) throws InterruptedException {
        var gson = new Gson();
        var flags = gson.fromJson(System.getenv("FLAGS"), Flag[].class);
        var users = gson.fromJson(System.getenv("USERS"), User[].class);
        var unleash = new DefaultUnleash(UnleashConfig.builder()
                .appName(System.getenv("APP_NAME")).unleashAPI(System.getenv("GUIDON_URL") + "/api").apiKey(System.getenv("TOKEN"))
                .fetchTogglesInterval(1).sendMetricsInterval(2).build());
        var ended = new CountDownLatch(1);
        var input = new Thread(() -> {
            try {
                System.in.readAllBytes();
            } catch (java.io.IOException e) {
                e.printStackTrace();
            }
            ended.countDown();
        });
        input.setDaemon(true);
        input.start();
        String printed = null;
        var rounds = Integer.parseInt(System.getenv("ROUNDS"));
        for (var round = 0; !ended.await(100, TimeUnit.MILLISECONDS); round++) {
            if (rounds > 0 && round >= rounds) {
                continue;
            }
            var answers = new TreeMap<String, String>();
            for (var user : users) {
                var context = UnleashContext.builder().userId(user.userId()).addProperty("plan", user.plan()).build();
                for (var flag : flags) {
                    answers.put(user.name() + " " + flag.name(), evaluate(unleash, flag.name(), context));
                }
            }
            var line = gson.toJson(answers);
            if (!line.equals(printed)) {
                System.out.println(line);
                printed = line;
            }
        }
        unleash.shutdown();
        System.exit(0);
    }

    static String evaluate(DefaultUnleash unleash, String name, UnleashContext context) {
        var state = unleash.isEnabled(name, context) ? "on" : "off";
        var variant = unleash.getVariant(name, context);
        if (!variant.isEnabled()) {
            return state;
        }
        var payload = variant.getPayload().map(p -> " " + p.getValue()).orElse("");
        return state + " " + variant.getName() + payload;
    }
}
