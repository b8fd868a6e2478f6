import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.gson.Gson;
import com.google.gson.JsonObject;
import dev.openfeature.contrib.providers.ofrep.OfrepProvider;
import dev.openfeature.contrib.providers.ofrep.OfrepProviderOptions;
import dev.openfeature.sdk.MutableContext;
import dev.openfeature.sdk.OpenFeatureAPI;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * Evaluates the flags in FLAGS, a list of names, for every context of the standard input with the OFREP provider of OpenFeature, which
 * sends a request for each, and prints an object: for each flag a list with one text for each context.
 */
public class EvaluateOfrep {
    public static void main(String[] args) {
        var gson = new Gson();
        var contexts = gson.fromJson(new InputStreamReader(System.in, StandardCharsets.UTF_8), JsonObject[].class);
        var options = OfrepProviderOptions.builder().baseUrl(System.getenv("GUIDON_URL"))
                .headers(ImmutableMap.of("Authorization", ImmutableList.of(System.getenv("TOKEN")))).build();
        OpenFeatureAPI.getInstance().setProviderAndWait(OfrepProvider.constructProvider(options));
        var client = OpenFeatureAPI.getInstance().getClient();
        var results = new TreeMap<String, List<String>>();
        for (var name : gson.fromJson(System.getenv("FLAGS"), String[].class)) {
            var texts = new ArrayList<String>();
            for (var context : contexts) {
                var got = client.getBooleanDetails(name, false, context(context));
                if (got.getErrorCode() != null) {
                    System.err.println(name + ": " + got.getErrorCode() + ": " + got.getErrorMessage());
                    System.exit(1);
                }
                var bare = List.of("enabled", "disabled").contains(got.getVariant());
                texts.add(bare ? "" + got.getValue() : got.getValue() + " " + got.getVariant());
            }
            results.put(name, texts);
        }
        System.out.println(gson.toJson(results));
        System.exit(0);
    }

    static MutableContext context(JsonObject from) {
        var context = new MutableContext(from.get("userId").getAsString());
        for (var name : List.of("sessionId", "remoteAddress", "environment", "appName", "currentTime")) {
            context.add(name, from.get(name).getAsString());
        }
        for (var property : from.getAsJsonObject("properties").entrySet()) {
            context.add(property.getKey(), property.getValue().getAsString());
        }
        return context;
    }
}
