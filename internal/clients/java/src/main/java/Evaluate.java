import com.google.gson.Gson;
import com.google.gson.JsonObject;
import io.getunleash.DefaultUnleash;
import io.getunleash.UnleashContext;
import io.getunleash.util.UnleashConfig;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * Evaluates the flags in FLAGS, a list of names, for every context of the standard input with unleash-client-java, and prints an
 * object: for each flag a list with one text for each context.
 */
public class Evaluate {
    public static void main(String[] args) {
        var gson = new Gson();
        var contexts = gson.fromJson(new InputStreamReader(System.in, StandardCharsets.UTF_8), JsonObject[].class);
        var unleash = new DefaultUnleash(UnleashConfig.builder()
                .appName("evaluate").unleashAPI(System.getenv("GUIDON_URL") + "/api").apiKey(System.getenv("TOKEN"))
                .synchronousFetchOnInitialisation(true).disableMetrics().build());
        var results = new TreeMap<String, List<String>>();
        for (var name : gson.fromJson(System.getenv("FLAGS"), String[].class)) {
            var texts = new ArrayList<String>();
            for (var context : contexts) {
                texts.add(evaluate(unleash, name, context(context)));
            }
            results.put(name, texts);
        }
        System.out.println(gson.toJson(results));
        unleash.shutdown();
        System.exit(0);
    }

    static String evaluate(DefaultUnleash unleash, String name, UnleashContext context) {
        if (!unleash.isEnabled(name, context)) {
            return "false";
        }
        var variant = unleash.getVariant(name, context);
        return variant.isEnabled() ? "true " + variant.getName() : "true";
    }

    static UnleashContext context(JsonObject from) {
        var context = UnleashContext.builder()
                .userId(from.get("userId").getAsString()).sessionId(from.get("sessionId").getAsString())
                .remoteAddress(from.get("remoteAddress").getAsString()).environment(from.get("environment").getAsString())
                .appName(from.get("appName").getAsString()).currentTime(ZonedDateTime.parse(from.get("currentTime").getAsString()));
        for (var property : from.getAsJsonObject("properties").entrySet()) {
            context.addProperty(property.getKey(), property.getValue().getAsString());
        }
        return context.build();
    }
}
