from rest_framework.authentication import TokenAuthentication


class BearerAuthentication(TokenAuthentication):
    keyword = "Bearer"

    def authenticate(self, request):
        key = request.query_params.get("token")
        return self.authenticate_credentials(key) if key else super().authenticate(request)
